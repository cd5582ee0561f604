#include "baseline/word_tag.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "baseline/examples.h"
#include "text/lower_case.h"
#include "text/utf8.h"

namespace attune {

namespace {

constexpr int64_t kTaggedExamples = 200'000;
constexpr size_t kLongestEnding = 3;  // letters

/// How often each tag was seen with something.
struct TagCounts {
  std::map<int32_t, int64_t> counts;
  void add(int32_t tag, int64_t times = 1) { counts[tag] += times; }
  /// Of equals the one that is more frequent in all: tags are numbered so.
  int32_t most() const {
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }
};

class TagTable {
 public:
  void add(const std::string& word, int32_t tag) { words_[word].add(tag); }
  /// After the last word.
  void finish() {
    for (const auto& [word, counts] : words_) {
      const std::string small = text::lower_case(word);
      for (const auto& [tag, times] : counts.counts) {
        small_[small].add(tag, times);
        all_.add(tag, times);
      }
      // A word once, however often it is said: new words are like rare ones.
      for (const std::string_view ending : endings(small)) endings_[std::string(ending)].add(counts.most());
    }
  }
  int32_t tag(const std::string& word) const {
    if (const auto at = words_.find(word); at != words_.end()) return at->second.most();
    const std::string small = text::lower_case(word);
    if (const auto at = small_.find(small); at != small_.end()) return at->second.most();
    for (const std::string_view ending : endings(small))
      if (const auto at = endings_.find(std::string(ending)); at != endings_.end()) return at->second.most();
    return all_.counts.empty() ? 0 : all_.most();
  }

 private:
  /// The longest first.
  static std::vector<std::string_view> endings(const std::string& word) {
    const std::vector<size_t> starts = text::character_starts(word);
    std::vector<std::string_view> found;
    for (size_t n = std::min(kLongestEnding, starts.size() - 1); n > 0; --n)
      found.push_back(std::string_view(word).substr(starts[starts.size() - 1 - n]));
    return found;
  }
  std::unordered_map<std::string, TagCounts> words_, small_, endings_;
  TagCounts all_;
};

/// Calls f(word, index) with the words of a source.
template <class F>
void for_words(std::span<const int32_t> ids, const std::vector<bool>& begins, const text::Tokenizer& tokenizer, F f) {
  size_t index = 0;
  for (size_t from = 0, end = 1; from < ids.size(); from = end++) {
    while (end < ids.size() && !begins[static_cast<size_t>(ids[end])]) ++end;
    f(tokenizer.decode(ids.subspan(from, end - from)), index++);
  }
}

}  // namespace

BaselineGuess WordTagBaseline::guess(const BaselineTask& task) {
  const Corpus &train = task.data.train, &valid = task.data.valid;
  const std::vector<bool>& begins = *train.word_begins;
  const text::Tokenizer& tokenizer = *task.tokenizers.source;
  TagTable table;
  ExampleBuffer buffer;
  for (const int64_t i : examples_to_look_at(task, kTaggedExamples)) {
    const Example example = train.example(i, buffer);
    for_words(example.source, begins, tokenizer, [&](const std::string& word, size_t w) {
      if (example.target[w] >= 0) table.add(word, example.target[w]);
    });
  }
  table.finish();
  const Answers answers = answers_of_task(task);
  BaselineGuess guess;
  std::vector<int32_t> tags;
  for (int64_t i = 0; i < valid.size(); ++i) {
    tags.clear();
    for_words(valid.example(i, buffer).source, begins, tokenizer,
              [&](const std::string& word, size_t) { tags.push_back(table.tag(word)); });
    guess.lines.push_back(answers.write(tags, task.data.valid_target[static_cast<size_t>(i)]));
  }
  return guess;
}

}  // namespace attune
