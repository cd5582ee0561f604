// The matrix product as a differentiable operation.
#pragma once
#include "autograd/tape.h"

namespace attune {

/// Which sides of a product are stored as [columns, rows].
struct Transposed {
  bool left = false, right = false;
};

/// a b for two matrices, or for each pair of two batches [batch, rows, columns] of the same size:
/// `matmul(ctx, q, k, {.right = true})` is Q K^T. A batch on the left also takes one matrix on the right, for all.
Var matmul(Ctx& ctx, const Var& a, const Var& b, Transposed transposed = {});

}  // namespace attune
