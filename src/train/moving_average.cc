#include "train/moving_average.h"

#include <algorithm>

#include "kernels/optimizer/sgd.h"

namespace attune {

void MovingAverage::begin() { std::copy_n(weights_.data(), weights_.size(), average_.data()); }

void MovingAverage::follow(int64_t step, ThreadPool* pool) {
  const auto t = static_cast<double>(step);
  const double decay = std::min(decay_, (t - 1) / (t + 8));
  kernels::move_average(average_.data(), weights_.data(), weights_.trained(), 1 - decay, pool);
  std::copy(weights_.data() + weights_.trained(), weights_.data() + weights_.size(),
            average_.data() + weights_.trained());
}

void MovingAverage::exchange(ThreadPool* pool) {
  std::swap_ranges(average_.data(), average_.data() + average_.size(), weights_.data());
  weights_.repack(pool);
}

}  // namespace attune
