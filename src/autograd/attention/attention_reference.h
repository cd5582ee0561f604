// Pieces of the slow references of operations that attend: their loop over heads, and matrices [queries, keys] of one
// segment, taken as given.
#pragma once
#include <vector>

#include "autograd/attention/attention.h"
#include "autograd/operations/arrange.h"

namespace attune::reference {

/// One head of one segment: [queries, dim], [keys, dim], [keys, value_dim].
struct OneHead {
  int64_t segment, head;
  Var q, k, v;
};

/// What `f(one)` makes of every head of every segment, put together as the operation's result.
template <class Op, class F>
Var head_by_head(Ctx& ctx, const Op& a, int64_t value_dim, F f) {
  std::vector<Var> segments;
  for (int64_t s = 0; s < a.queries->count(); ++s) {
    const auto rows = [&](const Var& x, const Segments& of) { return slice_rows(ctx, x, of.begin(s), of.length(s)); };
    const Var q = rows(a.q, *a.queries), k = rows(a.k, *a.keys), v = rows(a.v, *a.keys);
    std::vector<Var> heads;
    for (int64_t h = 0; h < a.heads; ++h) {
      const int64_t shared = h / (a.heads / a.heads_kv);
      heads.push_back(f(OneHead{s, h, slice_columns(ctx, q, a.q_column + h * a.dim, a.dim),
                                slice_columns(ctx, k, a.k_column + shared * a.dim, a.dim),
                                slice_columns(ctx, v, a.v_column + shared * value_dim, value_dim)}));
    }
    segments.push_back(concatenate_columns(ctx, heads));
  }
  return concatenate_rows(ctx, segments);
}

/// 0 where a query sees a key, minus infinity elsewhere.
Var mask_scores(Ctx& ctx, const Attention& a, int64_t segment);

/// What dropout multiplies the weights of one head by.
Var dropout_factors(Ctx& ctx, const Attention& a, int64_t segment, int64_t head);

}  // namespace attune::reference
