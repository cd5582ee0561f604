// Keys and values of everything said so far, for mechanisms that read them all at every step. A row is written once and
// never moves; a table says which rows each hypothesis descends from, and only that small table is rearranged when
// hypotheses part or end.
#pragma once
#include <vector>

#include "base/aligned.h"
#include "kernels/attention_step.h"
#include "model/attention/mechanism.h"

namespace attune {

class KeyCache : public AttentionState {
 public:
  /// `width` floats a row; `rows` is how many a step appends, about. Memory is taken in pages of about 64 steps.
  KeyCache(int64_t rows, int64_t width);

  void reorder(std::span<const int32_t> parents) override;
  /// Begins a step: room for a row per hypothesis, which is then filled through row(). As many as the last reorder
  /// left, or any number at first.
  void append(int64_t rows);
  float* row(int64_t hypothesis);

  int64_t steps() const { return steps_; }
  /// [steps, rows]: where the keys of each hypothesis are.
  const int32_t* ancestors() const { return ancestors_.data(); }
  kernels::PagedRows paged(int64_t column) const { return {addresses_.data(), page_bits_, width_, column}; }

 private:
  int64_t width_;
  int page_bits_;
  std::vector<Aligned<float>> pages_;
  std::vector<const float*> addresses_;      // of the pages
  std::vector<int32_t> ancestors_, before_;  // before_: kept for its memory
  int64_t rows_ = 0, steps_ = 0, used_ = 0;
};

}  // namespace attune
