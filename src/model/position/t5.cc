#include "model/position/t5.h"

#include <algorithm>
#include <cmath>

#include "autograd/operations/arrange.h"
#include "base/error.h"
#include "base/portable_math.h"

namespace attune {

int64_t t5_bucket(int64_t key_minus_query, const T5Buckets& b) {
  const int64_t count = b.causal ? b.count : b.count / 2;
  const int64_t first = !b.causal && key_minus_query > 0 ? count : 0;  // the future's buckets come after the past's
  const int64_t n = b.causal ? std::max<int64_t>(-key_minus_query, 0) : std::abs(key_minus_query);
  const int64_t exact = count / 2;  // these have buckets of their own
  if (n < exact) return first + n;
  const double far = portable::log(static_cast<double>(n) / static_cast<double>(exact)) /
                     portable::log(static_cast<double>(b.farthest) / static_cast<double>(exact));
  // where `far` meets a border it does so exactly, whatever the logarithms' last bit says
  const auto more = static_cast<int64_t>(far * static_cast<double>(count - exact) + 1e-9);
  return first + std::min(exact + more, count - 1);
}

T5Scores::T5Scores(const T5Buckets& b) : range_{b.causal ? 0 : -b.farthest, b.farthest}, count_(b.count) {
  const int64_t each_side = b.causal ? b.count : b.count / 2;
  check(each_side >= 2 && b.farthest > each_side / 2, "t5", "{} buckets do not reach a distance of {}", b.count,
        b.farthest);
  for (int64_t row = 0; row < range_.rows(); ++row)
    bucket_.push_back(static_cast<int32_t>(t5_bucket(row - range_.high, b)));
}

void T5Scores::check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t) const {
  check_table("t5", "the table of biases", tables[0], Shape{count_, heads});
}

void T5Scores::scores(const ScoreTile& tile, const HookTables& w, float* s) const {
  kernels::add_biases(tile, s, [&](int64_t distance) { return w.values[0].row<float>(bucket(distance))[tile.head]; });
}

void T5Scores::scores_backward(const ScoreTile& tile, const HookTables& w, const float* ds, float*, int64_t) const {
  if (!w.gradients[0]) return;
  kernels::add_bias_gradients(
      tile, ds, [&](int64_t distance, float sum) { w.gradients[0].row<float>(bucket(distance))[tile.head] += sum; });
}

Var T5Scores::scores_reference(Ctx& ctx, const Var&, const ReferencePlace& place) const {
  return bias_by_distance(ctx, slice_columns(ctx, place.tables[0], place.head, 1), place,
                          [&](int64_t distance) { return bucket(distance); });
}

}  // namespace attune
