// One attention layer between given queries, keys and values, for timing mechanisms as a model runs them.
#pragma once
#include <memory>

#include "base/aligned.h"
#include "model/attention/mechanism.h"
#include "tensor/arena.h"

namespace attune {

class BenchLayer {
 public:
  BenchLayer(const Choice& choice, const AttentionSetup& setup, const Segments& segments, ThreadPool& pool);

  /// All positions at once, as training does.
  void forward();
  /// Both ways.
  void forward_and_backward();
  /// Operations of the forward pass.
  double operations() const { return mechanism_->operations(parameters_, segments_, segments_); }
  /// All that was ever held at once.
  int64_t bytes() const;

 private:
  Var mix();

  Tape tape_;
  Arena arena_;
  Ctx ctx_;
  Parameters parameters_;
  std::unique_ptr<AttentionMechanism> mechanism_;
  std::unique_ptr<Gradients> gradients_;
  Segments segments_;  // with the rows that the mechanism has of its own
  int64_t width_;
  Aligned<float> q_, k_, v_, dout_;
};

struct DecodeTime {
  double us_per_token = 0;
  int64_t state_bytes = 0;
};
/// The time of a step of one sequence, when `length` positions came before.
DecodeTime time_decoding(const Choice& choice, const AttentionSetup& setup, int64_t length, ThreadPool& pool);

}  // namespace attune
