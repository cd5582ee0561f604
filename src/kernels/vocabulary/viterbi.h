// The best sequence of labels where moves from one label to the next have scores too, or are impossible: of a chain of
// labels that was trained so (autograd/losses/chain_loss.h), or of spans that must be well formed.
#pragma once
#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace attune {

/// Of all rows of `scores`, f32 [n, labels]. `moves` is f32 [labels + 2, labels]: from a label to a label; from the
/// begin; to the end. -inf: impossible. Of equally good ones, that whose last differing label is the lower.
std::vector<int32_t> best_labels(const Tensor& scores, const Tensor& moves);
/// How likely each label is at each row, all sequences weighed by their scores: logarithms, [n, labels], to `out`.
void label_marginals(const Tensor& scores, const Tensor& moves, float* out);

}  // namespace attune
