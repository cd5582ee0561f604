#include "data/batches.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"

namespace attune {

namespace {

/// Empties, but keeps the memory.
void clear(Segments& s) {
  s.start.assign(1, 0);
  s.longest = 0;
}

void add(Segments& s, int64_t rows) {
  s.start.push_back(s.start.back() + static_cast<int32_t>(rows));
  s.longest = std::max(s.longest, static_cast<int32_t>(rows));
}

}  // namespace

Batches::Batches(const Corpus& corpus, const BatchOptions& options) : corpus_(corpus), options_(options) {
  check(corpus.size() > 0, "batches", "the corpus is empty");
  check(corpus.size() <= INT32_MAX && options.tokens <= INT32_MAX, "batches", "more than {} examples or tokens",
        INT32_MAX);
  const int64_t longest = std::max(corpus.source.longest + options.end_source, corpus.target.longest + 1);
  if (longest > options.tokens)
    fail(ErrorKind::recipe,
         "train.batch_tokens = {} is less than the longest sentence needs: {} tokens with its end mark\n"
         "  fix: raise train.batch_tokens, or lower data.max_length",
         options.tokens, thousands(longest));
  order_.resize(static_cast<size_t>(corpus.size()));
  shuffle();
}

void Batches::shuffle() {
  std::iota(order_.begin(), order_.end(), 0);
  if (!options_.shuffle) return;
  Random random(mix(options_.seed, static_cast<uint64_t>(position_.epoch)));
  for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);  // Fisher-Yates
}

void Batches::seek(const DataPosition& position) {
  check(position.epoch >= 0 && position.example >= 0 && position.example < corpus_.size(), "batches",
        "position (epoch {}, example {}) is not in a corpus of {} examples", position.epoch, position.example,
        corpus_.size());
  const bool other = position.epoch != position_.epoch;
  position_ = position;
  if (other) shuffle();
}

void Batches::next(Batch& b) {
  b.at = position_;
  b.source.clear();
  b.target_in.clear();
  b.target_out.clear();
  b.examples.clear();
  clear(b.source_segments);
  clear(b.target_segments);
  while (position_.example < corpus_.size()) {
    const int32_t example = order_[static_cast<size_t>(position_.example)];
    const int64_t source = source_rows(example), target = target_rows(example);
    if (std::max(b.source_tokens() + source, b.target_tokens() + target) > options_.tokens) break;
    const auto s = corpus_.source[example], t = corpus_.target[example];
    b.source.insert(b.source.end(), s.begin(), s.end());
    if (options_.end_source) b.source.push_back(options_.end);
    b.target_in.push_back(options_.begin);
    b.target_in.insert(b.target_in.end(), t.begin(), t.end());
    b.target_out.insert(b.target_out.end(), t.begin(), t.end());
    b.target_out.push_back(options_.end);
    add(b.source_segments, source);
    add(b.target_segments, target);
    b.examples.push_back(example);
    ++position_.example;
  }
  if (position_.example == corpus_.size()) {
    position_ = {position_.epoch + 1, 0};
    shuffle();
  }
  b.next = position_;
}

}  // namespace attune
