// Pieces of the slow references of operations that attend: matrices [queries, keys] of one segment, taken as given.
#pragma once
#include "autograd/attention.h"

namespace attune::reference {

/// 0 where a query sees a key, minus infinity elsewhere.
Var mask_scores(Ctx& ctx, const Attention& a, int64_t segment);

/// What dropout multiplies the weights of one head by.
Var dropout_factors(Ctx& ctx, const Attention& a, int64_t segment, int64_t head);

}  // namespace attune::reference
