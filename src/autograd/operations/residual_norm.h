// The sublayer connection of a Transformer in one operation: residual, dropout and normalisation.
#pragma once
#include "autograd/tape.h"
#include "kernels/rows/norm.h"

namespace attune {

/// The parameters of a normalisation: gamma [d] and, unless missing, beta [d].
struct NormWeights {
  Var gamma = {}, beta = {};
  Norm kind = Norm::layer;
  float epsilon = 1e-5f;
};

/// Both results: the sum goes on along the residual stream of a pre-norm model, y into the next sublayer. A post-norm
/// model uses y alone.
struct ResidualNorm {
  Var sum, y;
};

/// sum = x + dropout(s), y = norm(sum) * gamma + beta, all [n, d], in one pass over memory. Without `s` (an empty Var)
/// it is the plain norm of x, and sum is x itself. Backward keeps the sum and two numbers per row. In f64 it runs as
/// the reference does.
ResidualNorm residual_norm(Ctx& ctx, const Var& x, const Var& s, const NormWeights& w, const Dropout& dropout = {});

/// The same by naive loops, in f32 or f64: what the fused one is checked against.
ResidualNorm residual_norm_reference(Ctx& ctx, const Var& x, const Var& s, const NormWeights& w,
                                     const Dropout& dropout = {});

}  // namespace attune
