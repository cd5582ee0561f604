#include "model/position/quadratic.h"

#include "autograd/attention/relative.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/matmul.h"
#include "base/error.h"

namespace attune {

void QuadraticScores::check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t) const {
  check_table("quadratic", "the table of centres", tables[0], Shape{heads, axes_});
  check_table("quadratic", "the table of sharpness", tables[1], Shape{heads, 1});
}

void QuadraticScores::scores(const ScoreTile& t, const HookTables& w, float* s) const {
  const float alpha = w.values[1].row<float>(t.head)[0];
  for (int64_t a = 0; a < axes_; ++a) {
    const RowPlaces queries = t.query_places.axis(a), keys = t.key_places.axis(a);
    const float centre = w.values[0].row<float>(t.head)[a];
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t c = 0; c < t.cols; ++c) {
        const auto delta = static_cast<float>(queries ? keys[c] - queries[r] : -t.distance(r, c));
        s[r * t.stride + c] -= alpha * delta * (delta - 2 * centre);
      }
  }
}

void QuadraticScores::scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float*, int64_t) const {
  if (!w.gather()) return;
  const float alpha = w.values[1].row<float>(t.head)[0];
  double of_alpha = 0;
  for (int64_t a = 0; a < axes_; ++a) {
    const RowPlaces queries = t.query_places.axis(a), keys = t.key_places.axis(a);
    const double centre = static_cast<double>(w.values[0].row<float>(t.head)[a]);
    double first = 0, second = 0;  // sums of ds delta and ds delta^2
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t c = 0; c < t.cols; ++c) {
        const auto delta = static_cast<double>(queries ? keys[c] - queries[r] : -t.distance(r, c));
        const double of = delta * static_cast<double>(ds[r * t.stride + c]);
        first += of;
        second += of * delta;
      }
    if (w.gradients[0])
      w.gradients[0].row<float>(t.head)[a] += static_cast<float>(2 * static_cast<double>(alpha) * first);
    of_alpha += 2 * centre * first - second;
  }
  if (w.gradients[1]) w.gradients[1].row<float>(t.head)[0] += static_cast<float>(of_alpha);
}

/// -alpha delta_a (delta_a - 2 Delta_a), axis by axis: a matrix of delta^2 and one of delta, times numbers.
Var QuadraticScores::scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const {
  const int64_t pairs = place.queries * place.keys;
  const Var powers = ctx.make(Shape{pairs, 1 + axes_}, q.dtype(), {});  // |delta|^2, then delta on each axis
  ctx.run([&] {
    by_type(q.dtype(), [&](auto type) {
      using T = decltype(type);
      for (int64_t i = 0; i < place.queries; ++i)
        for (int64_t j = 0; j < place.keys; ++j) {
          T* row = powers.value().row<T>(i * place.keys + j);
          row[0] = 0;
          for (int64_t a = 0; a < axes_; ++a) {
            const int64_t delta = place.query_places ? place.key_places.axis(a)[j] - place.query_places.axis(a)[i]
                                                     : -place.distance(i, j);
            row[1 + a] = static_cast<T>(delta);
            row[0] += static_cast<T>(delta * delta);
          }
        }
    });
  });
  const Var centre = slice_rows(ctx, place.tables[0], place.head, 1),
            alpha = slice_rows(ctx, place.tables[1], place.head, 1);
  const Var ones = ctx.make(Shape{1, 1}, q.dtype(), {});
  ctx.run([&] { by_type(q.dtype(), [&](auto type) { ones.value().template as<decltype(type)>()[0] = 1; }); });
  const Var v = concatenate_columns(ctx, {ones, scale(ctx, centre, -2)});  // (1, -2 Delta)
  const Var products = matmul(ctx, powers, v, {.right = true});            // [pairs, 1]
  return ctx.reshape(scale(ctx, matmul(ctx, products, alpha, {.right = true}), -1), Shape{place.queries, place.keys});
}

}  // namespace attune
