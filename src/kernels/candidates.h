// What a search may say next: the most probable columns of each row of logits, without writing all probabilities down.
#pragma once
#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace attune::kernels {

/// log softmax(x)[i, j] for the `ids.cols()` largest columns j of each row, largest first; of equal ones the lower
/// column. Hidden columns count in the softmax and are never chosen. Where there are too few (hidden, minus infinity or
/// not a number), ids are -1 and the log-probability is minus infinity. Spoils x.
struct Candidates {
  Tensor x;                              // [n, V], f32
  std::span<const int32_t> hidden = {};  // columns
  Tensor ids, log_probs;                 // [n, k]: i32, f32
};
void candidates(const Candidates& a, ThreadPool* pool = nullptr);

}  // namespace attune::kernels
