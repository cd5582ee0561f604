#include "baseline/ngram.h"

#include <algorithm>

#include "baseline/examples.h"
#include "baseline/ngram_model.h"

namespace attune {

namespace {

constexpr int kOrderOfLetters = 6, kOrderOfPieces = 3;
constexpr int64_t kTextBlocks = 32;  // of texts that are too long

/// Calls f with the texts of a corpus as a model is asked for them: lines with their end mark, or texts. Of texts that
/// have more than `most` tokens: with blocks of them.
template <class F>
void for_texts(const Corpus& corpus, int64_t most, F f) {
  ExampleBuffer buffer;
  if (corpus.window == 0) {
    const int64_t each = std::max<int64_t>(1, corpus.rows() / corpus.size());
    std::vector<int32_t> line;
    for (const int64_t i : spread_evenly(corpus.size(), most / each)) {
      const auto ids = corpus.example(i, buffer).target;
      line.assign(ids.begin(), ids.end());
      line.push_back(text::kEnd);
      f(line);
    }
    return;
  }
  const auto& starts = corpus.target.start;
  const int64_t all = corpus.target.tokens();
  for (size_t t = 0; all <= most && t + 1 < starts.size(); ++t)
    if (starts[t] < starts[t + 1]) f(corpus.tokens(starts[t], starts[t + 1], buffer));
  if (all <= most) return;
  const int64_t block = std::max<int64_t>(1, most / kTextBlocks);
  for (const int64_t from : spread_evenly(all - block + 1, kTextBlocks)) f(corpus.tokens(from, from + block, buffer));
}

}  // namespace

BaselineGuess NgramBaseline::guess(const BaselineTask& task) {
  const text::Tokenizer& tokenizer = *task.tokenizers.target;
  NgramModel model(tokenizer.unit().empty() ? kOrderOfPieces : kOrderOfLetters, tokenizer.size());
  for_texts(task.data.train, task.most_tokens, [&](std::span<const int32_t> text) { model.add(text); });
  model.finish();
  double nats = 0;
  int64_t tokens = 0;
  for_texts(task.data.valid, INT64_MAX, [&](std::span<const int32_t> text) {
    nats += model.nats(text);
    tokens += std::ssize(text);
  });
  BaselineGuess guess;
  guess.loss = nats / static_cast<double>(std::max<int64_t>(1, tokens));
  return guess;
}

}  // namespace attune
