// What a run will hold in memory at its worst, known before the first update, and the token budget that fits in a
// limit.
#pragma once
#include <functional>

#include "train/optimizer/optimizer.h"
#include "train/shard_pass.h"

namespace attune {

/// Bytes a run will hold at its worst.
struct MemoryEstimate {
  int64_t parameters = 0;  // the weights, and the panels packed of them
  int64_t moments = 0;     // what the optimiser remembers, and the average of the weights
  int64_t gradients = 0;
  int64_t activations = 0;  // of all threads
  int64_t streams = 0;      // what layers remember of texts
  int64_t total() const { return parameters + moments + gradients + activations + streams; }
};

/// The largest that a corpus has.
struct Largest {
  Largest(int64_t longest) : rows(longest) {}
  int64_t rows;  // of the longest sequence
  // Where sources are no words: what the largest of them is, and how many examples there are.
  Layout source_layout = {}, target_layout = {};
  std::vector<int32_t> source = {}, target = {};
  int64_t examples = 0;
};
Largest largest_of(const Corpus& corpus);

/// Rehearses the largest shard of the options' budget, where no sequence is larger than `largest`.
struct Rehearsed {
  Plan worker;
  int64_t to_sample = 0;  // bytes that a thread takes beside it where the model says what it reads (train.sampling)
};
Rehearsed rehearse(Worker& worker, const Model& model, const TrainOptions& options, const Largest& largest,
                   Gradients* gradients);

/// What comes of such a plan on so many threads; `remembered`: bytes of the optimiser.
struct PlannedRun {
  int threads = 1;
  int64_t longest = 0, remembered = 0;
};
MemoryEstimate estimate_memory(const Model& model, const TrainOptions& options, const Rehearsed& plan,
                               const PlannedRun& run);

/// For budgets of any size: the same without anything of a run there yet.
std::function<MemoryEstimate(TokenBudget)> memory_by_budget(Model& model, const TrainOptions& options,
                                                            const Largest& largest, int threads);

/// Budgets that are chosen are multiples of kTokenStep, and none is larger than kMostTokens.
constexpr int64_t kTokenStep = 256, kMostTokens = 65536;

/// The budget of a run that may hold `options.memory`: the one given, or the largest that fits. `need` tells the bytes
/// of a budget, `least` the smallest that makes sense. ErrorKind::memory when it does not fit.
TokenBudget budget_in(const TrainOptions& options, int64_t least, const std::function<int64_t(TokenBudget)>& need);

}  // namespace attune
