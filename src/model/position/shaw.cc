#include "model/position/shaw.h"

#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"

namespace attune {

void ShawScores::check_tables(const std::array<Var, 2>& tables, int64_t, int64_t dim) const {
  check_table("shaw", "the keys' table", tables[0], Shape{range_.rows(), dim});
  if (tables[1]) check_table("shaw", "the values' table", tables[1], Shape{range_.rows(), dim});
}

void ShawScores::scores(const ScoreTile& t, const HookTables& w, float* s) const {
  kernels::add_products(t, {key_table(w), t.q, t.q_stride, t.scale}, s);
}

void ShawScores::scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                                 int64_t dq_stride) const {
  kernels::add_sums(t, {key_table(w), t.q, t.q_stride, t.scale}, ds, {dq, dq_stride});
}

void ShawScores::values(const ScoreTile& t, const HookTables& w, const float* weights, float* out,
                        int64_t out_stride) const {
  if (w.values[1]) kernels::add_sums(t, {{range_, w.values[1]}}, weights, {out, out_stride});
}

void ShawScores::values_backward(const ScoreTile& t, const HookTables& w, const float* dout, int64_t dout_stride,
                                 float* dweights) const {
  if (w.values[1]) kernels::add_products(t, {value_table(w), dout, dout_stride}, dweights);
}

void ShawScores::values_gradient(const ScoreTile& t, const HookTables& w, const float* weights, const float* dout,
                                 int64_t dout_stride) const {
  if (w.gradients[1]) kernels::add_sums(t, {value_table(w), dout, dout_stride}, weights, {});
}

Var ShawScores::scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const {
  const Var products = matmul(ctx, q, place.tables[0], {.right = true});  // [n, 2k + 1]
  return scale(ctx, spread_by_distance(ctx, products, place, range_), static_cast<double>(place.scale));
}

Var ShawScores::values_reference(Ctx& ctx, const Var& weights, const ReferencePlace& place) const {
  if (!place.tables[1]) return {};
  return matmul(ctx, sum_by_distance(ctx, weights, place, range_), place.tables[1]);
}

}  // namespace attune
