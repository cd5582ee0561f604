// The operands that checks of attention operations share.
#pragma once
#include <memory>
#include <vector>

#include "autograd/gradcheck.h"

namespace attune {

/// `make(ctx, operation, inputs)` with q, k, v, segments and heads filled in as the case says: q, k and v are three
/// inputs, or columns of one (self-attention with as many heads of each).
template <class Op, class Case, class Make>
CheckedOp attention_op(const Case& c, bool joined, Make make) {
  auto queries = std::make_shared<Segments>(Segments::of_lengths(c.queries));
  auto keys = std::make_shared<Segments>(Segments::of_lengths(c.keys));
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    Op a;
    a.q = in[0];
    a.k = joined ? in[0] : in[1];
    a.v = joined ? in[0] : in[2];
    if (joined) a.k_column = c.heads * c.dim;
    if (joined) a.v_column = (c.heads + c.heads_kv) * c.dim;
    a.queries = queries.get();
    a.keys = keys.get();
    a.heads = c.heads;
    a.heads_kv = c.heads_kv;
    a.dim = c.dim;
    return make(ctx, a, in);
  };
}

}  // namespace attune
