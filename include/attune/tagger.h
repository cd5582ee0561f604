// What a trained model says about each word of a text: parts of speech, names.
//
//   attune::Tagger t("model-dir");
//   for (auto& w : t.tag("Ada lives in London .").words) std::cout << w.word << "/" << w.label << " ";
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attune {

struct TagOptions {
  int64_t batch_tokens = 4096;  // tokens read at the same time: more is faster and takes memory
};

struct TaggedWord {
  std::string word, label;
  double score = 0;  // the probability of the label at this word, whatever its neighbours have
};

/// Words that belong together, where labels say so (B-PER, I-PER).
struct TaggedSpan {
  std::string label;            // "PER"
  int64_t first = 0, last = 0;  // of the words
};

struct TaggedText {
  std::vector<TaggedWord> words;
  std::vector<TaggedSpan> spans;
};

/// Never changes once made; safe to share between threads.
class Tagger {
 public:
  /// Reads a model folder. `threads` 0: one per core.
  explicit Tagger(const std::string& model, int threads = 0);
  Tagger(Tagger&&) noexcept;
  Tagger& operator=(Tagger&&) noexcept;
  ~Tagger();

  /// In order, a label for every word, words being what stands between white space; a line that is longer than the
  /// model can read is read in windows that overlap. What is said of a line does not depend on the others or the
  /// threads.
  std::vector<TaggedText> tag(const std::vector<std::string>& lines, const TagOptions& options = {}) const;
  TaggedText tag(const std::string& line, const TagOptions& options = {}) const;
  const std::vector<std::string>& labels() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
