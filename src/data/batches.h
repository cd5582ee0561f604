// Batches of a corpus, packed: sentences one after another up to a budget of tokens, no padding, no sorting by length.
// Every epoch is a fresh shuffle that depends on (seed, epoch) alone, so a position is two numbers and a run resumes
// with exactly the batches it would have had.
#pragma once
#include <compare>
#include <cstdint>
#include <vector>

#include "data/corpus.h"
#include "tensor/segments.h"

namespace attune {

/// Between two batches: `example` examples of the epoch are done.
struct DataPosition {
  int64_t epoch = 0, example = 0;
  auto operator<=>(const DataPosition&) const = default;
};

struct BatchOptions {
  int64_t tokens = 4096;       // the budget: max(source, target) of a batch, marks counted
  int32_t begin = 1, end = 2;  // the marks
  bool end_source = true;      // the source ends with the mark too
  bool shuffle = true;         // false: in the order of the corpus, for validation
  uint64_t seed = 1;
};

struct Batch {
  std::vector<int32_t> source;                 // tokens + end
  std::vector<int32_t> target_in, target_out;  // begin + tokens, tokens + end: what is read, what is to be said
  Segments source_segments, target_segments;
  std::vector<int32_t> examples;  // which of the corpus, one per segment
  DataPosition at, next;          // where it begins, and where the one after it does

  int64_t size() const { return static_cast<int64_t>(examples.size()); }
  int64_t source_tokens() const { return source_segments.rows(); }
  int64_t target_tokens() const { return target_segments.rows(); }
};

/// An endless stream of batches. Each epoch has every example once; its last batch is what is left. Not for several
/// threads at once. The corpus must outlive it.
class Batches {
 public:
  /// ErrorKind::recipe when an example alone is over the budget.
  Batches(const Corpus& corpus, const BatchOptions& options);

  /// Fills `batch`, whose memory is used again.
  void next(Batch& batch);
  const DataPosition& position() const { return position_; }
  /// Goes to a position: the `next` of a batch, kept in a checkpoint. O(size of the corpus).
  void seek(const DataPosition& position);

 private:
  void shuffle();
  int64_t source_rows(int64_t example) const { return corpus_.source.length(example) + options_.end_source; }
  int64_t target_rows(int64_t example) const { return corpus_.target.length(example) + 1; }

  const Corpus& corpus_;
  BatchOptions options_;
  DataPosition position_;
  std::vector<int32_t> order_;  // of this epoch
};

}  // namespace attune
