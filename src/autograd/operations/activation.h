// Activation and dropout in one operation, gated or not.
#pragma once
#include "autograd/tape.h"
#include "kernels/rows/activation.h"

namespace attune {

/// f, and whether it gates: relu alone is the paper's; swish, gelu and relu with a gate are SwiGLU, GEGLU and ReGLU,
/// sigmoid with one is the GLU.
struct ActivationKind {
  Activation f = Activation::relu;
  bool gated = false;
};

/// dropout(f(x)), of x's shape; gated: dropout(f(a) * b) where [a | b] are the halves of x's columns, half as wide.
/// Backward keeps the input, or for relu without a gate the result alone. In f64 it runs as the reference does.
Var activation(Ctx& ctx, const Var& x, ActivationKind kind, const Dropout& dropout = {});

/// The same by naive loops and libm, in f32 or f64: what the fused one is checked against.
Var activation_reference(Ctx& ctx, const Var& x, ActivationKind kind, const Dropout& dropout = {});

}  // namespace attune
