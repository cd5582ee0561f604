// Moving rows and columns about. Copies move any dtype; what adds works in f32 and f64.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace attune::kernels {

/// to = from, or to += from, row by row; both have the same number of rows and columns.
void copy(const Tensor& from, const Tensor& to, bool add, ThreadPool* pool);
void fill_zero(const Tensor& to, ThreadPool* pool);
/// to[.., j, i] (+)= from[.., i, j].
void transpose(const Tensor& from, const Tensor& to, bool add, ThreadPool* pool);

/// Whether all ids are in [0, rows); else `at` is the first that is not.
bool ids_fit(const Tensor& ids, int64_t rows, int64_t* at);
/// to[i] (+)= from[ids[i]] for every row i of `to`.
void gather_rows(const Tensor& from, const Tensor& ids, const Tensor& to, bool add, ThreadPool* pool);
/// to[ids[i]] += from[i] in ascending i, on top of what is there.
void scatter_add_rows(const Tensor& from, const Tensor& ids, const Tensor& to, ThreadPool* pool);

}  // namespace attune::kernels
