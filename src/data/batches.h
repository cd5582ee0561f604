// Batches of a corpus, packed: sentences one after another up to a budget of tokens, no padding, no sorting by length.
// Every epoch is a fresh shuffle that depends on (seed, epoch) alone, so a position is two numbers and a run resumes
// with exactly the batches it would have had. Texts come as parallel streams of windows instead (data/streams.h), and
// what is fresh in an epoch is where they begin.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/corpus/piece_dropout.h"
#include "data/streams.h"
#include "tensor/rows.h"

namespace attune {

struct BatchOptions {
  int64_t tokens = 4096;       // the budget: max(source, target) of a batch, marks counted
  int32_t begin = 1, end = 2;  // the marks
  bool end_source = true;      // the source ends with the mark too
  bool shuffle = true;         // false: in the order of the corpus, for validation
  uint64_t seed = 1;
  double piece_dropout = 0;  // the chance that a piece falls apart, where the corpus knows into what
  double mask = 0.15;        // the share of words that are missing, where the corpus is masked
};

/// ErrorKind::recipe when an example alone is over the budget.
void check_budget(const Corpus& corpus, const BatchOptions& options);

/// An endless stream of batches. Each epoch has every example once, unless corpora are mixed by ratio; its last batch
/// is what is left. Not for several threads at once. The corpus must outlive it.
class Batches {
 public:
  /// As check_budget.
  Batches(const Corpus& corpus, const BatchOptions& options);

  /// Fills `batch`, whose memory is used again.
  void next(Batch& batch);
  const DataPosition& position() const { return position_; }
  /// Goes to a position: the `next` of a batch, kept in a checkpoint. O(size of the corpus).
  void seek(const DataPosition& position);

 private:
  void shuffle();
  void mix_corpora();
  void add_examples(Batch& batch);
  void add_windows(Batch& batch);
  Example fall_apart(const Example& example, int32_t number);
  void add_links(Batch& batch, int64_t example) const;
  void add_answers(Batch& batch, const Example& example) const;
  void add_masked(Batch& batch, std::span<const int32_t> ids, int32_t number) const;
  void add_text(Batch& batch, int64_t from, int64_t end);
  void find_documents(const Batch& batch, int64_t first, int64_t end);
  const Corpus& corpus_;
  BatchOptions options_;
  DataPosition position_;
  std::vector<int32_t> order_;      // of this epoch
  std::vector<int32_t> pass_;       // of one of several corpora, while they are mixed
  std::optional<Streams> streams_;  // of texts, instead of an order
  int64_t offset_ = 0;              // the token where this epoch's first stream begins
  std::vector<int64_t> documents_;  // rows of the batch where the window at hand has the begin of one
  ExampleBuffer buffer_;
  FallenApart source_parts_, target_parts_;  // of the example at hand, where pieces fall apart
};

}  // namespace attune
