// Products of matrices and of batches of matrices: f32 by gemm, f64 by plain loops, for checking.
#pragma once
#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace attune::kernels {

/// c = a b, or c += a b. All are matrices, or all are batches [batch, rows, columns] of them; a transposed side is
/// stored as [columns, rows].
struct Matmul {
  Tensor a, b, c;
  bool a_transposed = false, b_transposed = false, add = false;
};
void matmul(const Matmul& p, ThreadPool* pool);

}  // namespace attune::kernels
