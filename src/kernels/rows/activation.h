// Activation functions by name, and the pass over rows that applies one with dropout, gated or not. The vector forms
// are in kernels/rows/activation_math.h.
#pragma once
#include <cstdint>

#include "base/random.h"
#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace attune {

/// gelu is the exact one (erf), gelu_tanh its approximation, swish is x sigmoid(x).
enum class Activation : uint8_t { none, relu, gelu, gelu_tanh, swish, tanh, sigmoid };

namespace kernels {

/// y = dropout(f(x)), or dropout(f(a) * b) with [a | b] the two halves of x's columns (Shazeer 2020).
struct Activate {
  Activation kind = Activation::relu;
  bool gated = false;
  Dropout dropout = {};
  Tensor x = {}, y = {};  // [n, d] or [n, 2 d]; [n, d]
};
void activate_rows(const Activate& a, ThreadPool* pool = nullptr);

struct ActivateBackward {
  Activation kind = Activation::relu;
  bool gated = false;
  Dropout dropout = {};
  Tensor x = {};  // what forward read; y will do instead for relu without a gate: what is positive was kept
  Tensor y = {};
  Tensor dy = {}, dx = {};
  bool add = false;
};
void activate_rows_backward(const ActivateBackward& a, ThreadPool* pool = nullptr);

}  // namespace kernels
}  // namespace attune
