#include "model/position/rope.h"

#include <algorithm>

#include "base/error.h"

namespace attune {

RopePosition::Layer::Layer(const AttentionSetup& s, double base, int64_t axes_of_places)
    : heads(s.heads),
      heads_kv(s.heads_kv),
      dim(s.dim),
      axes(axes_of_places),
      angles(s.dim / axes_of_places, [base](const Tensor& t) { fill_rotations(t, base); }) {
  if (dim % (2 * axes) != 0)
    fail(ErrorKind::recipe,
         "position \"rope\" turns pairs of columns{}, heads have {}\n  fix: d_model / heads must be a multiple of {}",
         axes > 1 ? fmt::format(" for each of {} axes", axes) : "", dim, 2 * axes);
}

RopePosition::Layer::Angles RopePosition::Layer::angles_of(const Pass& pass, const RowPositions& where,
                                                           int64_t rows) const {
  Angles all;
  Rotation& r = all.rotation;
  r.where = where;
  const Tensor of_axis = angles.first(positions_of(where, rows));
  r.table = of_axis;
  if (axes == 1) return all;
  check(where.places && where.places.cols() == axes, "rope", "rows without places on {} axes", axes);
  std::vector<float> filled(static_cast<size_t>(rows * dim));
  float* to = filled.data();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t a = 0; a < axes; ++a)
      to = std::copy_n(of_axis.row<float>(where.places.row<int32_t>(i)[a]), dim / axes, to);
  all.of_rows = keep(pass.ctx, std::move(filled));
  r.table = Tensor(all.of_rows->data(), Shape{rows, dim});
  r.where = {};
  return all;
}

Projected RopePosition::Layer::turn(const Pass& pass, const Projected& p, const RowPositions& queries,
                                    const RowPositions& keys) const {
  const Angles of_queries = angles_of(pass, queries, p.q.rows());
  Rotation r = of_queries.rotation;
  Projected to = p;
  // Queries and keys side by side are turned in one go.
  const bool together = p.q.slot() == p.k.slot() && p.k_column == p.q_column + heads * dim;
  r.column = p.q_column;
  r.heads = heads + (together ? heads_kv : 0);
  to.q = to.k = rotate(pass.ctx, p.q, r);
  to.q_column = 0;
  to.k_column = together ? heads * dim : 0;
  if (together || (p.k.slot() == p.q.slot() && p.k_column == p.q_column)) return to;
  const Angles of_keys = angles_of(pass, keys, p.k.rows());
  r = of_keys.rotation;
  r.column = p.k_column;
  r.heads = heads_kv;
  to.k = rotate(pass.ctx, p.k, r);
  to.k_column = 0;
  return to;
}

}  // namespace attune
