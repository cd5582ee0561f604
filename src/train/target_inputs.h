// What the decoder reads while it learns, where that is not the truth: random words (train.target_noise) and what the
// model itself would have said (train.sampling). What it is to say stays. Which tokens are replaced is a function of
// the seed, the update and the place in the batch: the same for any threads and shards, and after a resume.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "train/shard_pass.h"

namespace attune {

/// The probability that an input token is replaced in the `update`-th update, counted from 1: a line from 0 at `from`
/// up to `share`, `over` updates later (Bengio et al. 2015, "Scheduled Sampling for Sequence Prediction with Recurrent
/// Neural Networks", section 2.4).
double sampling_share(const SamplingSettings& sampling, int64_t update);

class TargetInputs {
 public:
  /// One thread uses a worker's number at a time. The model and the memory outlive it.
  TargetInputs(const Model& model, const TrainOptions& options, StreamMemory& memory, int workers);

  /// Whether anything is ever replaced.
  bool on() const { return options_.target_noise > 0 || options_.sampling.share > 0; }
  /// Before the pieces of a batch of the `update`-th update; `step` is what its dropout is keyed by.
  void begin(const Batch& batch, uint64_t step, int64_t update);
  /// Makes a piece of that batch read what it shall. With sampling, that takes a pass through the model without dropout
  /// (Mihaylova and Martins 2019, "Scheduled Sampling for Transformers").
  void replace(int worker, Batch& piece);
  /// Bytes that a worker takes for such a piece.
  int64_t rehearse(const Batch& piece);

 private:
  struct Inputs {
    std::vector<int32_t> ids;
    std::vector<bool> sampled;  // which are to be what the model says
    bool any_sampled = false;
  };
  struct Reader {
    Worker worker;
    std::vector<int32_t> rows, said;  // of a piece: rows before those that are replaced, and what is said there
  };
  void say(Reader& reader, const Batch& piece);

  const Model& model_;
  const TrainOptions& options_;
  std::vector<std::unique_ptr<Reader>> readers_;
  Inputs inputs_;  // of the batch at hand
};

}  // namespace attune
