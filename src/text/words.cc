// Whole words: what stands between two spaces.
#include <algorithm>

#include "text/segmenter.h"

namespace attune::text {

namespace {

class Words : public Segmenter {
 public:
  explicit Words(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void segment(std::string_view line, std::vector<Token>& out) const override {
    for (size_t begin = 0; begin < line.size();) {
      const size_t end = std::min(line.find(' ', begin), line.size());
      const int32_t id = vocabulary_.id(line.substr(begin, end - begin));
      // A word that is spelled like a mark is a word, and not a known one.
      out.push_back({id < kMarks ? kUnknown : id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
      begin = end + 1;
    }
  }

  void write(int32_t id, bool first, std::string& text) const override {
    if (!first) text += ' ';
    text += id == kUnknown ? kUnknownText.substr(1, kUnknownText.size() - 2) : vocabulary_.piece(id);
  }

 private:
  const Vocabulary& vocabulary_;
};

}  // namespace

std::unique_ptr<const Segmenter> make_words(const Vocabulary& vocabulary) {
  return std::make_unique<Words>(vocabulary);
}

}  // namespace attune::text
