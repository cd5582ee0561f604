// An exponential moving average of the weights: what a run judges, keeps and ends with where its recipe says train.ema.
// It costs one more copy of the weights, and a pass over them per update.
#pragma once
#include "autograd/parameters.h"
#include "base/aligned.h"

namespace attune {

class MovingAverage {
 public:
  MovingAverage(Parameters& weights, double decay)
      : weights_(weights), decay_(decay), average_(Aligned<float>::unset(weights.size())) {}

  /// Before the first update: it is the weights.
  void begin();
  /// After the `step`-th update, counted from 1: average = d average + (1 - d) weights, where d grows to the decay as
  /// (step - 1) / (step + 8) does, so that first weights are soon forgotten. Buffers are taken as they are.
  void follow(int64_t step, ThreadPool* pool);
  /// Makes the average the weights and the weights the average.
  void exchange(ThreadPool* pool);
  float* data() const { return average_.data(); }

 private:
  Parameters& weights_;
  double decay_;
  Aligned<float> average_;
};

}  // namespace attune
