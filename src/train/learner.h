// One update of the weights: forward and backward of a batch in shards, the tree that sums their gradients, clipping
// and Adam. The bits of the result depend on the batch, the options and the seed alone: not on the threads.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "train/gradient_tree.h"
#include "train/shard_pass.h"

namespace attune {

struct UpdateResult {
  double loss = 0;           // per target token, smoothing included
  double gradient_norm = 0;  // before clipping; only where clipping needs it
  double rate = 0;
  double flops = 0;
  int64_t source_tokens = 0, target_tokens = 0, sentences = 0;
  bool finite() const;
};

/// Bytes a run will hold at its worst.
struct MemoryEstimate {
  int64_t parameters = 0;  // the weights, and the panels packed of them
  int64_t moments = 0;     // Adam's two
  int64_t gradients = 0;
  int64_t activations = 0;  // of all threads
  int64_t streams = 0;      // what layers remember of texts
  int64_t total() const { return parameters + moments + gradients + activations + streams; }
};

class Learner {
 public:
  /// Rehearses the largest shard of the budget, where no sequence is longer than `longest`, and takes its memory. The
  /// model and the pool outlive it.
  Learner(Transformer& model, const TrainOptions& options, int64_t longest, ThreadPool& pool);

  /// One update from `accumulate` batches. `last`: the number of the run's last update, where it is known.
  UpdateResult update(std::span<const Batch* const> batches, int64_t last = 0);

  /// Whether every weight is a number, after updates that said their loss was.
  bool weights_finite() const;

  int64_t updates() const { return updates_; }
  void set_updates(int64_t n) { updates_ = n; }
  float* first_moment() { return first_.data(); }
  float* second_moment() { return second_.data(); }
  Transformer& model() { return model_; }
  /// What the layers remember of the texts they read: part of the state of a run, like the moments.
  StreamMemory& streams() { return streams_; }

  const MemoryEstimate& memory() const { return memory_; }
  /// Requests for memory that the rehearsal did not foresee, of all threads so far.
  int64_t overflows() const;

 private:
  /// Pieces whose gradients are one leaf of the tree: they are worked through one after another.
  struct Leaf {
    size_t batch, from, to;  // of pieces_[batch]
    size_t first_loss;
  };
  Plan rehearse(int64_t longest);

  Transformer& model_;
  TrainOptions options_;
  ThreadPool& pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
  GradientTree tree_;
  StreamMemory streams_;
  Aligned<float> first_, second_;
  MemoryEstimate memory_;
  int64_t updates_ = 0;
  // of the update at hand
  std::vector<std::vector<Shard>> pieces_;  // per batch
  std::vector<Leaf> leaves_;
  std::vector<double> losses_;  // per piece
};

}  // namespace attune
