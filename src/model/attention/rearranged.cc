#include "model/attention/rearranged.h"

#include <algorithm>

#include "autograd/operations/arrange.h"

namespace attune {

Var row_ids(Ctx& ctx, const Rearrangement& r) { return ctx.input(Tensor(r.rows.data(), Shape{std::ssize(r.rows)})); }

void find_places(Ctx& ctx, Rearrangement& r, const Segments& old, const Tensor& told, int64_t heads) {
  const RowPlaces given(told);
  r.axes = given.axes;
  r.places.resize(r.rows.size() * static_cast<size_t>(r.axes));
  ctx.run([&] {
    std::vector<int32_t> index;
    for (int64_t s = 0; !given && s < old.count(); ++s)
      for (int32_t i = 0; i < old.length(s); ++i) index.push_back(i);
    const int32_t* from = given ? given.data : index.data();
    int32_t* to = r.places.data();
    for (const int32_t row : r.rows) to = std::copy_n(from + row / heads * r.axes, r.axes, to);
  });
}

Projected rearranged(Ctx& ctx, const Projected& p, const Rearrangement& r) {
  const Var ids = row_ids(ctx, r);
  Projected to = p;
  to.q = gather_rows(ctx, p.q, ids);
  to.k = p.k.slot() == p.q.slot() ? to.q : gather_rows(ctx, p.k, ids);
  to.v = p.v.slot() == p.q.slot() ? to.q : p.v.slot() == p.k.slot() ? to.k : gather_rows(ctx, p.v, ids);
  to.queries = to.keys = &r.segments;
  to.query_places = to.key_places = r.place_tensor();
  return to;
}

Var put_back(Ctx& ctx, const Var& x, const Rearrangement& r) {
  return scatter_add_rows(ctx, x, row_ids(ctx, r), x.rows());
}

}  // namespace attune
