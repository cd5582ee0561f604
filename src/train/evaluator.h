// How probable a model finds a corpus: validation and tests. Nothing is learned, nothing dropped; the bits do not
// depend on the threads.
#pragma once
#include <memory>
#include <vector>

#include "train/shard_pass.h"

namespace attune {

/// What a corpus costs a model.
struct Likelihood {
  double nats = 0;  // the negative log-likelihood of all target tokens
  int64_t tokens = 0;
  double loss() const { return nats / static_cast<double>(tokens); }  // per token
  double perplexity() const;
};

class Evaluator {
 public:
  /// Batches are cut as in training, by shards and slices. The model and the pool outlive it.
  Evaluator(const Model& model, const TrainOptions& options, ThreadPool& pool);

  /// Of all targets of a corpus, in order, in batches of the recipe's budget.
  Likelihood operator()(const Corpus& corpus);
  /// The negative log-likelihood of all target tokens of a batch. Of a text: the one that follows the last.
  double negative_log_likelihood(const Batch& batch);

 private:
  const Model& model_;
  TrainOptions options_;
  ThreadPool& pool_;
  StreamMemory memory_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Shards shards_;
  std::vector<double> losses_;
};

/// A corpus in its own order. A validation sentence may be longer than any of the training and than its budget.
BatchOptions in_order(const TrainOptions& options, const Corpus& corpus);

}  // namespace attune
