#include "model/position/rope.h"

#include "base/error.h"

namespace attune {

RopePosition::Layer::Layer(const AttentionSetup& s, double base)
    : heads(s.heads),
      heads_kv(s.heads_kv),
      dim(s.dim),
      angles(s.dim, [base](const Tensor& t) { fill_rotations(t, base); }) {
  if (dim % 2)
    fail(ErrorKind::recipe,
         "position \"rope\" turns pairs of columns, heads have {}\n  fix: d_model / heads must be even", dim);
}

Projected RopePosition::Layer::turn(const Pass& pass, const Projected& p, const RowPositions& queries,
                                    const RowPositions& keys) const {
  Rotation r;
  r.where = queries;
  r.table = angles.first(positions_of(queries, p.q.rows()));
  Projected to = p;
  // Queries and keys side by side are turned in one go.
  const bool together = p.q.slot() == p.k.slot() && p.k_column == p.q_column + heads * dim;
  r.column = p.q_column;
  r.heads = heads + (together ? heads_kv : 0);
  to.q = to.k = rotate(pass.ctx, p.q, r);
  to.q_column = 0;
  to.k_column = together ? heads * dim : 0;
  if (together || (p.k.slot() == p.q.slot() && p.k_column == p.q_column)) return to;
  r.column = p.k_column;
  r.heads = heads_kv;
  r.where = keys;
  r.table = angles.first(positions_of(keys, p.k.rows()));
  to.k = rotate(pass.ctx, p.k, r);
  to.k_column = 0;
  return to;
}

}  // namespace attune
