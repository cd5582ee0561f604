// The products of a weight matrix, on tensors: what operations that multiply by one are made of. f32 by gemm, with the
// panels that the weight's owner keeps; forward also by int8 weights; f64 by plain loops.
#pragma once
#include "autograd/tape.h"

namespace attune {

/// y = x W^T + b, or y += x W^T where `add`, which takes no bias.
struct WeightProduct {
  Tensor x;
  const Var& weight;
  Tensor bias = {};
  Tensor y;
  bool add = false;
};
void multiply_by_weight(Ctx& ctx, const WeightProduct& p);

/// dx (+)= dz W.
void input_gradient(const Tensor& dz, const Var& w, const Tensor& dx, bool add, ThreadPool* pool);
/// dW (+)= dz^T x.
void weight_gradient(const Tensor& dz, const Tensor& x, const Tensor& dw, bool add, ThreadPool* pool);

}  // namespace attune
