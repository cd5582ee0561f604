#include "model/position/music.h"

#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"

namespace attune {

void MusicScores::check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t dim) const {
  check_table("music", "the table of distances", tables[0], Shape{range_.rows(), heads * dim});
}

void MusicScores::scores(const ScoreTile& t, const HookTables& w, float* s) const {
  kernels::add_products(t, {kernels::table_of_head(range_, w, t), t.q, t.q_stride, t.scale}, s);
}

void MusicScores::scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                                  int64_t dq_stride) const {
  kernels::add_sums(t, {kernels::table_of_head(range_, w, t), t.q, t.q_stride, t.scale}, ds, {dq, dq_stride});
}

Var MusicScores::scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const {
  const Var e = slice_columns(ctx, place.tables[0], place.head * q.cols(), q.cols());
  const Var products = matmul(ctx, q, e, {.right = true});  // [n, distances]
  return scale(ctx, spread_by_distance(ctx, products, place, range_), static_cast<double>(place.scale));
}

}  // namespace attune
