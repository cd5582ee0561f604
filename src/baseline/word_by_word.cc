#include "baseline/word_by_word.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "baseline/examples.h"
#include "data/word_translations.h"

namespace attune {

namespace {

constexpr int64_t kPairs = 50'000, kPairTokens = 800'000;
constexpr int64_t kRounds = 4, kCandidates = 50;

/// Words and their numbers, in the order in which they come.
class WordNumbers {
 public:
  std::vector<int32_t> add(const std::vector<std::string>& words) {
    std::vector<int32_t> ids;
    for (const std::string& word : words) {
      const auto [at, is_new] = numbers_.emplace(word, static_cast<int32_t>(words_.size()));
      if (is_new) words_.push_back(word);
      ids.push_back(at->second);
    }
    return ids;
  }
  int64_t count() const { return std::ssize(words_); }
  const std::string& word(int32_t number) const { return words_[static_cast<size_t>(number)]; }
  /// -1: it was never added.
  int32_t number(const std::string& word) const {
    const auto at = numbers_.find(word);
    return at == numbers_.end() ? -1 : at->second;
  }

 private:
  std::unordered_map<std::string, int32_t> numbers_;
  std::vector<std::string> words_;
};

}  // namespace

BaselineGuess WordByWordBaseline::guess(const BaselineTask& task) {
  BaselineTask some = task;
  some.most_tokens = std::min(task.most_tokens, kPairTokens);
  const text::Tokenizer &from = *task.tokenizers.source, &to = *task.tokenizers.target;
  WordNumbers source_words, target_words;
  Sentences source, target;
  ExampleBuffer buffer;
  for (const int64_t i : examples_to_look_at(some, kPairs)) {
    const Example example = task.data.train.example(i, buffer);
    source.add(source_words.add(words_of_text(from.decode(example.source))));
    target.add(target_words.add(words_of_text(to.decode(example.target))));
  }
  const WordTranslations known = learn_translations(source, target,
                                                    {.source_words = source_words.count(),
                                                     .target_words = target_words.count(),
                                                     .rounds = kRounds,
                                                     .candidates = kCandidates},
                                                    task.pool);
  BaselineGuess guess;
  for (const std::string& line : task.data.valid_source) {
    // As the training's, which went through the tokenizer: other forms of a letter are one there.
    std::vector<std::string> words = words_of_text(from.decode(from.encode(line)));
    const std::vector<std::string> as_written = words_of_text(line);
    for (size_t i = 0; i < words.size(); ++i) {
      const int32_t number = source_words.number(words[i]);
      const auto* own = number < 0 ? nullptr : &known.of[static_cast<size_t>(number)];
      if (own && !own->empty())
        words[i] = target_words.word(own->front().word);
      else if (as_written.size() == words.size())
        words[i] = as_written[i];
    }
    guess.lines.push_back(join(words, " "));
  }
  return guess;
}

}  // namespace attune
