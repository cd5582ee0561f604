// An ensemble's next token: the mean of what its models think probable.
#pragma once
#include "kernels/rows/elementwise.h"
#include "kernels/rows/reduce.h"

namespace attune {

/// `sum` has the logits of the first of several models; `of(m)` gives those of the others. Leaves the logarithm of the
/// sum of their probabilities in `sum`: a constant is no matter.
template <class LogitsOf>
void mix_models(const Tensor& sum, size_t models, const LogitsOf& of, ThreadPool* pool) {
  kernels::softmax(sum, false, sum, pool);
  for (size_t m = 1; m < models; ++m) {
    const Tensor other = of(m);
    kernels::softmax(other, false, other, pool);
    kernels::pairwise(kernels::Pairwise::add, kernels::Spread::none, sum, other, sum, pool);
  }
  kernels::unary(kernels::Unary::log, 0, sum, sum, pool);
}

}  // namespace attune
