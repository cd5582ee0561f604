// Sums, means and maxima of rows and columns, softmax of rows, running sums down the rows of each sequence; f32 and
// f64.
//
// A row is summed in sixteen lanes and one fixed tree, a column in one ascending chain: bits depend on nothing else.
#pragma once
#include "base/thread_pool.h"
#include "tensor/segments.h"
#include "tensor/tensor.h"

namespace attune::kernels {

/// y[i] = scale * the sum of row i (scale 1 / columns makes it the mean).
void row_sum(const Tensor& x, double scale, const Tensor& y, ThreadPool* pool);
/// y[j] = scale * the sum of column j, or that added to what y holds.
void column_sum(const Tensor& x, double scale, const Tensor& y, bool add, ThreadPool* pool);
/// *y = scale * the sum of all; `row_sums` has room for a number per row.
void sum_all(const Tensor& x, double scale, void* row_sums, const Tensor& y, ThreadPool* pool);

/// What the sums of rows, of columns and of everything send back: dx[i, j] (+)= scale * dy[i], dy[j] or *dy.
enum class SumOf : uint8_t { rows, columns, all };
struct SumBackward {
  SumOf of;
  double scale;
  Tensor dy, dx;
  bool add;
};
void sum_backward(const SumBackward& p, ThreadPool* pool);

void row_max(const Tensor& x, const Tensor& y, ThreadPool* pool);
void column_max(const Tensor& x, const Tensor& y, ThreadPool* pool);
/// The first of equal maxima gets the gradient.
struct MaxBackward {
  Tensor x, y, dy, dx;
  bool add;
};
void row_max_backward(const MaxBackward& p, ThreadPool* pool);
void column_max_backward(const MaxBackward& p, ThreadPool* pool);

/// Each row's exp(x - max) / sum, or its logarithm. A row of -inf alone gives zeros (or -inf).
void softmax(const Tensor& x, bool logarithm, const Tensor& y, ThreadPool* pool);
struct SoftmaxBackward {
  Tensor y, dy, dx;
  bool logarithm, add;
};
void softmax_backward(const SoftmaxBackward& p, ThreadPool* pool);

/// y[t] (+)= x[0] + ... + x[t] within each sequence, or from its end: x[t] + ... + x[last].
struct RunningSum {
  Tensor x, y;
  const Segments* segments;
  bool from_end, add;
};
void running_sum(const RunningSum& p, ThreadPool* pool);

}  // namespace attune::kernels
