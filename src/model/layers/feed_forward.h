// The position-wise feed-forward network (Vaswani et al. 2017, section 3.3): FFN(x) = f(x W1 + b1) W2 + b2. The paper's
// f is max(0, x); gated ones (Shazeer 2020) have twice the inner columns.
#pragma once
#include <string>

#include "autograd/operations/activation.h"
#include "model/layers/linear.h"
#include "recipe/settings.h"

namespace attune {

/// From the recipe's word: relu, gelu, swish, swiglu, geglu.
ActivationKind activation_kind(const std::string& name);

struct FeedForward {
  FeedForward(const Blueprint& b, const ModelOptions& o);
  Var operator()(const Pass& pass, const Var& x) const;  // [n, d_model] -> [n, d_model]
  /// Weights that a row is multiplied by.
  double multiplied_weights() const { return weights; }

  ActivationKind kind;
  Linear inner, outer;
  float rate;  // of dropout inside
  uint64_t site;
  double weights;
};

}  // namespace attune
