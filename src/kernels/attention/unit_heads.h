// Rows cut into heads, each brought to length 1 and then to a length of the head's own.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/attention/attention.h"

namespace attune::kernels {

/// Added to |x|^2, so that a head of zeros stays one.
inline constexpr float kUnitEpsilon = 1e-12f;

/// y[i, h] = gain[h] x[i, h] / |x[i, h]|.
struct UnitHeads {
  int64_t rows = 0, heads = 1, dim = 0;
  Rows x, y;
  const float* gain = nullptr;  // [heads]; absent: 1
};
void unit_heads(const UnitHeads& a, ThreadPool* pool);

struct UnitHeadsBackward {
  int64_t rows = 0, heads = 1, dim = 0;
  Rows x, dy, dx;  // dx may be absent
  const float* gain = nullptr;
  bool add = false;
  float* dots = nullptr;  // [rows, heads]: what each head of a row adds to the gradient of its gain; may be absent
};
void unit_heads_backward(const UnitHeadsBackward& a, ThreadPool* pool);

}  // namespace attune::kernels
