// The state of mechanisms that remember sums instead of positions: a fixed number of floats for each hypothesis,
// however long it is.
#pragma once
#include <vector>

#include "base/aligned.h"
#include "model/attention/mechanism.h"

namespace attune {

class RunningSums : public AttentionState {
 public:
  /// `floats` for each row, all zeros at first; the first step says how many rows there are.
  explicit RunningSums(int64_t floats) : floats_(floats) {}
  void reorder(std::span<const int32_t> parents) override;
  /// Begins a step of so many rows.
  void begin(int64_t rows);
  float* const* rows() const { return rows_.data(); }
  float* row(int64_t i) const { return rows_[static_cast<size_t>(i)]; }
  int64_t steps() const { return steps_; }
  int64_t bytes() const override { return std::ssize(memory_) * floats_ * static_cast<int64_t>(sizeof(float)); }

 private:
  Aligned<float> take();
  void set(std::vector<Aligned<float>> memory);

  int64_t floats_, steps_ = 0;
  std::vector<Aligned<float>> memory_, unused_;
  std::vector<float*> rows_;
};

}  // namespace attune
