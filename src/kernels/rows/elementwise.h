// Functions of single elements, and of pairs of them with the right side spread over the left; f32 and f64.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace attune::kernels {

enum class Unary : uint8_t { scale, add_constant, exp, log, tanh, sigmoid, sqrt };

/// y = f(x); `by` is the constant of scale and add_constant.
void unary(Unary f, double by, const Tensor& x, const Tensor& y, ThreadPool* pool);

/// dx (+)= dy f'. `kept` is what the slope is made of: y for exp, tanh, sigmoid and sqrt, x for log, else nothing.
struct UnaryBackward {
  Unary f;
  double by;
  Tensor kept, dy, dx;
  bool add;
};
void unary_backward(const UnaryBackward& p, ThreadPool* pool);

enum class Pairwise : uint8_t { add, subtract, multiply, divide };

/// How the right side meets the left: element by element, one row for all rows, one column for all columns, or one
/// number for all.
enum class Spread : uint8_t { none, row, column, one };

/// y = f(a, b).
void pairwise(Pairwise f, Spread spread, const Tensor& a, const Tensor& b, const Tensor& y, ThreadPool* pool);

/// a and b are looked at where the slope needs them: neither by add and subtract, both by divide on the right.
struct PairwiseBackward {
  Pairwise f;
  Spread spread;
  Tensor a, b, dy, to;
  bool add;
  void* row_sums = nullptr;  // room for a number per row: for Spread::one on the right
};
/// to (+)= the gradient of the left side.
void pairwise_backward_left(const PairwiseBackward& p, ThreadPool* pool);
/// to (+)= the gradient of the right side, summed over what it was spread over.
void pairwise_backward_right(const PairwiseBackward& p, ThreadPool* pool);

}  // namespace attune::kernels
