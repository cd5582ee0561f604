// A linear layer with its bias and activation in one operation.
#pragma once
#include "autograd/tape.h"
#include "kernels/rows/activation.h"

namespace attune {

/// y = f(x W^T + b): x [n, in], W [out, in], b [out] or missing. Where the weight's owner keeps its packed panels
/// (Parameters::repack), they are used; else they are made on the way. Backward keeps x and, for a curved f, the value
/// before it. In f64 it runs as the reference does.
Var linear(Ctx& ctx, const Var& x, const Var& weight, const Var& bias = {}, Activation f = Activation::none);

/// The same composed of plain operations, in f32 or f64: what the fused one is checked against.
Var linear_reference(Ctx& ctx, const Var& x, const Var& weight, const Var& bias = {}, Activation f = Activation::none);

}  // namespace attune
