// A vocabulary shortlist: which words may be said of a line, by the words of it. A search that looks at these few
// hundred words, instead of all there are, is faster and nearly always finds the same (Jean et al. 2015, "On Using Very
// Large Target Vocabulary for Neural Machine Translation", section 3.3).
//
//   const Shortlist list = Shortlist::load("model/shortlist.txt", 10000, 10000);
//   list.ids_of(source)      // {2, 4, 5, 17, ...}
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attune {

class Shortlist {
 public:
  /// `always` may be said of any line; translations[s] where s is in it. Ids are those of the target's words.
  Shortlist(int64_t target_words, std::vector<int32_t> always, const std::vector<std::vector<int32_t>>& translations);

  /// What may be said of such a line, each once, in ascending order. Ids beyond the source's words bring nothing.
  std::vector<int32_t> ids_of(std::span<const int32_t> source) const;

  int64_t source_words() const { return static_cast<int64_t>(start_.size()) - 1; }
  int64_t target_words() const { return target_words_; }
  const std::vector<int32_t>& always() const { return always_; }
  std::span<const int32_t> translations(int64_t source) const;
  /// Of all words of the source.
  int64_t translations() const { return static_cast<int64_t>(ids_.size()); }

  /// A line of sizes, one of what may always be said, and one for each word of the source that brings something:
  ///   attune shortlist 1: 10000 source words, 10000 target words
  ///   always: 2 4 5 6
  ///   17: 33 45 46
  std::string text() const;
  /// Reads that text. ErrorKind::model, with `name` and line, for what is none or has other sizes than wanted.
  static Shortlist parse(const std::string& text, const std::string& name, int64_t source_words, int64_t target_words);
  static Shortlist load(const std::string& path, int64_t source_words, int64_t target_words);

 private:
  int64_t target_words_;
  std::vector<int32_t> always_, ids_;  // ascending; those of each word one after another
  std::vector<int64_t> start_{0};
};

}  // namespace attune
