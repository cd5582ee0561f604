// Differentiable functions of single elements and of pairs of them.
#pragma once
#include "autograd/tape.h"

namespace attune {

// Pairs. The right side has the shape of the left, or is spread over it: one row ([cols] or [1, cols]) for all rows,
// one column ([rows, 1]) for all columns, or one number for all. A constant is a `ctx.input` that needs no gradient.
Var add(Ctx& ctx, const Var& a, const Var& b);
Var subtract(Ctx& ctx, const Var& a, const Var& b);
Var multiply(Ctx& ctx, const Var& a, const Var& b);
Var divide(Ctx& ctx, const Var& a, const Var& b);

Var scale(Ctx& ctx, const Var& x, double by);
Var add_constant(Ctx& ctx, const Var& x, double constant);
/// In f32 what exceeds the largest number stays near it: it does not become infinite.
Var exp(Ctx& ctx, const Var& x);
/// -inf at 0, NaN below.
Var log(Ctx& ctx, const Var& x);
Var tanh(Ctx& ctx, const Var& x);
Var sigmoid(Ctx& ctx, const Var& x);
/// The gradient at 0 is infinite.
Var sqrt(Ctx& ctx, const Var& x);

}  // namespace attune
