// Orders of numbers: the largest of a row, and sorting. All orders are total: equal keys keep the order of their
// indices, NaN counts as less than every number.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "tensor/segments.h"
#include "tensor/tensor.h"

namespace attune::kernels {

/// The ids of each row's `ids.cols()` largest numbers, largest first, and the numbers. `space` holds a row's worth of
/// int32_t per worker.
struct TopK {
  Tensor x, values, ids;
  int32_t* space;
};
void top_k(const TopK& p, ThreadPool* pool);
/// dx[i, ids[i, j]] (+)= dy[i, j].
void top_k_backward(const Tensor& dy, const Tensor& ids, const Tensor& dx, bool add, ThreadPool* pool);

/// ids[i] = the permutation that sorts row i. Keys are f32, f64 or i32.
void argsort_rows(const Tensor& keys, bool descending, const Tensor& ids, ThreadPool* pool);
/// The permutation that sorts the rows of each sequence by a column of keys; ids are rows of the whole batch.
void argsort_segments(const Tensor& keys, const Segments& segments, bool descending, const Tensor& ids,
                      ThreadPool* pool);

}  // namespace attune::kernels
