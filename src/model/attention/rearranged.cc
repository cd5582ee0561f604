#include "model/attention/rearranged.h"

#include "autograd/arrange.h"

namespace attune {

Var row_ids(Ctx& ctx, const Rearrangement& r) { return ctx.input(Tensor(r.rows.data(), Shape{std::ssize(r.rows)})); }

Projected rearranged(Ctx& ctx, const Projected& p, const Rearrangement& r) {
  const Var ids = row_ids(ctx, r);
  Projected to = p;
  to.q = gather_rows(ctx, p.q, ids);
  to.k = p.k.slot() == p.q.slot() ? to.q : gather_rows(ctx, p.k, ids);
  to.v = p.v.slot() == p.q.slot() ? to.q : p.v.slot() == p.k.slot() ? to.k : gather_rows(ctx, p.v, ids);
  to.queries = to.keys = &r.segments;
  return to;
}

Var put_back(Ctx& ctx, const Var& x, const Rearrangement& r) {
  return scatter_add_rows(ctx, x, row_ids(ctx, r), x.rows());
}

}  // namespace attune
