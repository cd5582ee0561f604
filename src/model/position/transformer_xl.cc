#include "model/position/transformer_xl.h"

#include <cmath>

#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/linear.h"
#include "autograd/operations/matmul.h"
#include "base/portable_math.h"

namespace attune {

namespace {

int64_t padded(int64_t dim) { return (dim + 15) / 16 * 16; }

/// q' + (v - u) of a piece, in the scratch behind the kernels' own.
kernels::DistanceTerm shifted(const DistanceRange& range, const ScoreTile& t, const HookTables& w) {
  float* x = t.scratch + kernels::relative_scratch(t.dim) + kernels::kPieceDistances;
  kernels::shift_queries(t, w.values[1].as<float>() + t.head * t.dim, x, padded(t.dim));
  return {kernels::table_of_head(range, w, t), x, padded(t.dim), t.scale};
}

/// Where places are told: what flows into the rows of a piece flows into the bias too.
void placed_backward(const ScoreTile& t, const kernels::DistanceTerm& e, const HookTables& w, const float* ds,
                     kernels::Rows dq) {
  const int64_t width = padded(t.dim);
  float* rows = t.scratch + kernels::relative_scratch(t.dim) + kernels::kPieceDistances + kernels::kPieceRows * width;
  std::fill_n(rows, t.rows * width, 0.0f);
  kernels::add_sums(t, e, ds, {rows, width});
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t d = 0; d < t.dim; ++d) {
      dq.data[r * dq.stride + d] += rows[r * width + d];
      if (w.gradients[1]) w.gradients[1].as<float>()[t.head * t.dim + d] += rows[r * width + d];
    }
}

}  // namespace

int64_t TransformerXlScores::scratch(int64_t dim) const {
  return kernels::relative_scratch(dim) + kernels::kPieceDistances + 2 * kernels::kPieceRows * padded(dim);
}

void TransformerXlScores::check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t dim) const {
  const int64_t rows = of_rows(tables[0].rows()).rows();
  check_table("transformer-xl", "the table of distances", tables[0], Shape{rows, heads * dim});
  check_table("transformer-xl", "the bias", tables[1], Shape{1, heads * dim});
}

void TransformerXlScores::scores(const ScoreTile& tile, const HookTables& w, float* s) const {
  kernels::for_pieces(tile, [&](const ScoreTile& t, int64_t at) {
    kernels::add_products(t, shifted(of_rows(w.values[0].rows()), t, w), s + at);
  });
}

void TransformerXlScores::scores_backward(const ScoreTile& tile, const HookTables& w, const float* ds, float* dq,
                                          int64_t dq_stride) const {
  kernels::for_pieces(tile, [&](const ScoreTile& t, int64_t at) {
    kernels::DistanceTerm e = shifted(of_rows(w.values[0].rows()), t, w);
    const kernels::Rows own{dq + (t.query - tile.query) * dq_stride, dq_stride};
    if (t.placed()) return placed_backward(t, e, w, ds + at, own);
    kernels::add_sums(t, e, ds + at, own);
    if (!w.gradients[1]) return;
    // every query has the same bias: its gradient is one row's, of the scores summed along the diagonals
    float* sums = t.scratch + kernels::relative_scratch(t.dim);
    const ScoreTile diagonals = kernels::diagonals_of(t);
    std::fill_n(sums, diagonals.cols, 0.0f);
    kernels::add_diagonals(t, ds + at, sums);
    e.table.gradient = {};
    kernels::add_sums(diagonals, e, sums, {w.gradients[1].as<float>() + t.head * t.dim, 0});
  });
}

Var TransformerXlScores::scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const {
  const int64_t dim = q.cols(), column = place.head * dim;
  const Var x = add(ctx, q, slice_columns(ctx, place.tables[1], column, dim));
  const Var products = matmul(ctx, x, slice_columns(ctx, place.tables[0], column, dim), {.right = true});
  return scale(ctx, spread_by_distance(ctx, products, place, of_rows(products.cols())),
               static_cast<double>(place.scale));
}

void fill_distance_sinusoids(const Tensor& table, const DistanceRange& range) {
  const int64_t d = table.cols(), half = (d + 1) / 2;
  by_type(table.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t j = 0; j < d; ++j) {
      const double wave = portable::pow(10000.0, static_cast<double>(2 * (j % half)) / static_cast<double>(d));
      for (int64_t distance = range.low; distance <= range.high; ++distance) {
        const double angle = static_cast<double>(distance) / wave;
        table.row<T>(range.row(distance))[j] = static_cast<T>(j < half ? portable::sin(angle) : portable::cos(angle));
      }
    }
  });
}

namespace {

/// Of the rows of a table, row 0 the farthest past: as many distances ahead as behind.
DistanceRange around_nought(int64_t rows) { return {(rows - 1) / 2 - rows + 1, (rows - 1) / 2}; }

}  // namespace

TransformerXlPosition::Layer::Layer(int64_t longest, const Blueprint& place, const AttentionSetup& s)
    : width(s.width()),
      scores({s.causal ? 0 : 1 - longest, longest - 1}),
      weight(place.matrix("weight", width, width, Init::xavier(width, width))),
      u(place.at_stack().table_once("position.u", 1, width, Init::zeros())),
      v(place.at_stack().table_once("position.v", 1, width, Init::zeros())),
      sinusoids(width, [](const Tensor& t) { fill_distance_sinusoids(t, around_nought(t.rows())); }) {}

/// Nothing is learned by distance: more of them cost nothing.
void TransformerXlPosition::Layer::extend(int64_t positions) {
  const DistanceRange& r = scores.range();
  scores = TransformerXlScores({r.low < 0 ? r.low - positions : 0, r.high + positions});
}

Projected TransformerXlPosition::Layer::turn(const Pass& pass, const Projected& p, const RowPositions&,
                                             const RowPositions&) const {
  Projected to = p;
  to.q = add(pass.ctx, slice_columns(pass.ctx, p.q, p.q_column, width), pass[u]);
  to.q_column = 0;
  return to;
}

std::array<Var, 2> TransformerXlPosition::Layer::tables(const Pass& pass, int64_t farthest) const {
  Ctx& ctx = pass.ctx;
  const DistanceRange range = scores.within(farthest);
  if (pass.dtype() == DType::f32) {
    const Tensor all = sinusoids.at_least(2 * range.high + 1);
    const Var r = ctx.input(all.row_range(around_nought(all.rows()).row(range.high), range.rows()));
    return {linear(ctx, r, pass[weight]), subtract(ctx, pass[v], pass[u])};
  }
  const Var r = ctx.make(Shape{range.rows(), width}, pass.dtype(), {});
  ctx.run([&] { fill_distance_sinusoids(r.value(), range); });
  return {linear(ctx, r, pass[weight]), subtract(ctx, pass[v], pass[u])};
}

}  // namespace attune
