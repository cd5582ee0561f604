// One update of the weights: forward and backward of a batch in shards, the tree that sums their gradients, clipping
// and the optimiser. The bits of the result depend on the batch, the options and the seed alone: not on the threads.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/gradient_tree.h"
#include "train/guidance.h"
#include "train/memory_plan.h"
#include "train/moving_average.h"
#include "train/optimizer/optimizer.h"
#include "train/shard_pass.h"
#include "train/target_inputs.h"

namespace attune {

struct UpdateResult {
  double loss = 0;           // per target token, smoothing and weights included
  double guide_loss = 0;     // per row that is guided, its weight not counted
  double gradient_norm = 0;  // before clipping
  double rate = 0;
  double flops = 0;
  int64_t source_tokens = 0, target_tokens = 0, sentences = 0;
  std::string bad;  // of an update that was skipped: the first parameter whose gradient is no number, or "the loss"
  bool skipped() const { return !bad.empty(); }
  /// "the gradient of output.weight is not a number"
  std::string why_skipped() const;
};

/// What an update must know of its batches before the first of them: sums over all.
struct UpdateBatches {
  int64_t batches = 0, leaves = 0, guided_rows = 0;
  double weight = 0;  // of what is said
};

/// What an update must know of the run it is part of.
struct Pace {
  double last = 0;   // the number of the run's last update, as far as it is known
  double scale = 1;  // of the schedule's rate: what plateaus and accidents made of it
};

/// For tests: a gradient that is not a number, in updates [from, to) as long as Pace::scale is at least `least_scale`.
struct GradientFault {
  int64_t from = 0, to = 0;
  std::string parameter;
  double least_scale = 0;
};
void inject_gradient_fault(const GradientFault& fault);

class Learner {
 public:
  /// Rehearses the largest shard of the budget, where no sequence is larger than `largest`, and takes its memory. The
  /// model and the pool outlive it.
  Learner(Model& model, const TrainOptions& options, const Largest& largest, ThreadPool& pool);

  /// One update from batches that come one after another: begin_update, add each of them, finish_update. Where the loss
  /// or a gradient is not a number, the weights and all that is remembered stay as they were; the texts that layers
  /// read are forgotten. An update that was begun and not finished has changed nothing.
  void begin_update(const UpdateBatches& foreseen);
  void add(const Batch& batch);
  UpdateResult finish_update(const Pace& pace = {});
  /// Counts one more batch of an update to come.
  void foresee(const Batch& batch, UpdateBatches& batches) const;
  /// All of it, for batches that are there.
  UpdateResult update(std::span<const Batch* const> batches, const Pace& pace = {});

  /// Whether every weight is a number, after updates that said their loss was.
  bool weights_finite() const;

  /// Updates so far, and those of them that were not skipped.
  int64_t updates() const { return updates_; }
  int64_t steps() const { return steps_; }
  void set_updates(int64_t updates, int64_t steps) {
    updates_ = updates;
    steps_ = steps;
  }
  /// Takes the weights as those to begin with: before they are judged or saved at update 0.
  void begin() {
    if (average_) average_->begin();
  }
  /// Forgets everything but the weights: as before the first update.
  void restart();
  /// All that an update reads beside the model, for checkpoints. With an average, that is the model, and the weights
  /// that are trained are here: NAME.trained.
  std::vector<Remembered> remembered() const;
  /// The weights that are judged and kept, in the parameters' layout.
  float* kept_weights() const { return average_ ? average_->data() : model_.parameters().data(); }
  /// Judges and shows the kept weights: the model has them while this lives.
  class ScopedAverage {
   public:
    explicit ScopedAverage(Learner& learner) : learner_(learner) { learner_.exchange(); }
    ~ScopedAverage() { learner_.exchange(); }
    ScopedAverage(const ScopedAverage&) = delete;
    ScopedAverage& operator=(const ScopedAverage&) = delete;

   private:
    Learner& learner_;
  };
  Model& model() { return model_; }
  /// What the layers remember of the texts they read: part of the state of a run, like the moments.
  StreamMemory& streams() { return streams_; }

  const MemoryEstimate& memory() const { return memory_; }
  /// Requests for memory that the rehearsal did not foresee, of all threads so far.
  int64_t overflows() const;

 private:
  /// Pieces whose gradients are one leaf of the tree: they are worked through one after another.
  struct Leaf {
    size_t from, to;  // of pieces_
  };
  void exchange() {
    if (average_) average_->exchange(&pool_);
  }
  double weight_of(const Batch& batch) const;
  std::string first_bad(const Gradients& gradients) const;

  Model& model_;
  TrainOptions options_;
  ThreadPool& pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
  GradientTree tree_;
  StreamMemory streams_;
  TargetInputs inputs_;
  Guidance guidance_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<MovingAverage> average_;
  MemoryEstimate memory_;
  int64_t updates_ = 0, steps_ = 0;
  // of the update at hand
  UpdateBatches foreseen_, added_;
  UpdateResult result_;
  // of the batch at hand
  Shards pieces_;
  std::vector<Leaf> leaves_;
  std::vector<ShardLoss> losses_;  // per piece
};

}  // namespace attune
