#include "model/position/growing_rows.h"

#include <algorithm>

namespace attune {

Tensor GrowingRows::at_least(int64_t rows) {
  constexpr int64_t kLeast = 128;
  const std::lock_guard lock(mutex_);
  if (tables_.empty() || rows > rows_) {
    rows_ = std::max({kLeast, 2 * rows_, rows});
    tables_.push_back(std::make_unique_for_overwrite<float[]>(static_cast<size_t>(rows_ * width_)));
    fill_(Tensor(tables_.back().get(), Shape{rows_, width_}));
  }
  return Tensor(tables_.back().get(), Shape{rows_, width_});
}

}  // namespace attune
