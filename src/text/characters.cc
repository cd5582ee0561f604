// Single characters; "▁" is the space.
#include "text/id_map.h"
#include "text/segmenter.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

class SingleCharacters : public Segmenter {
 public:
  explicit SingleCharacters(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), ids_(static_cast<size_t>(vocabulary.size())) {
    for (int32_t id = vocabulary.first(); id < vocabulary.size(); ++id) {
      const std::string& piece = vocabulary.piece(id);
      ids_.add(piece == kSpacePiece ? U' ' : first_character(piece).code, id);
    }
  }

  void segment(std::string_view line, std::vector<Token>& out) const override {
    uint32_t at = 0;
    for (Character c : Characters(line)) {
      const int32_t id = ids_.find(c.code);
      if (id < 0 && vocabulary_.byte_fallback())
        push_unknown(vocabulary_, line, {kUnknown, at, at + c.bytes}, out);
      else
        out.push_back({id < 0 ? kUnknown : id, at, at + c.bytes});
      at += c.bytes;
    }
  }

  void write(int32_t id, bool, std::string& text) const override {
    if (id == kUnknown)
      text += kUnknownText;
    else if (vocabulary_.piece(id) == kSpacePiece)
      text += ' ';
    else
      text += vocabulary_.piece(id);
  }

 private:
  const Vocabulary& vocabulary_;
  IdMap ids_;
};

}  // namespace

std::unique_ptr<const Segmenter> make_characters(const Vocabulary& vocabulary) {
  return std::make_unique<SingleCharacters>(vocabulary);
}

}  // namespace attune::text
