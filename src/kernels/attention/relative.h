// What schemes of relative positions add to tiles of scores: products with vectors by distance, and biases by distance,
// forward and back. A TileHook is made of them. Neither a third matrix of queries x keys x columns nor a second one of
// scores ever exists: a strip of rows is multiplied with the few distances it meets, and the products are added along
// the diagonals (the skewing of Huang et al. 2018, on the way from one register to the next). Where the tile tells
// places of its own, evenly spaced ones go the same way, by the diagonals' own vectors; others go pair by pair.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/attention/attention.h"

namespace attune {

/// Distances a table tells apart: the place of the query minus that of the key, from `low` to `high`; those beyond
/// count as the nearest. Row 0 is `high`: rows go with key minus query, as the papers count.
struct DistanceRange {
  int64_t low = 0, high = 0;

  int64_t rows() const { return high - low + 1; }
  int64_t row(int64_t distance) const { return high - std::clamp(distance, low, high); }
};

namespace kernels {

/// Vectors by distance, f32, possibly columns of a wider table.
struct DistanceTable {
  DistanceRange range = {};
  Tensor vectors = {};   // [range.rows(), dim]
  Tensor gradient = {};  // the same shape, or empty
};

/// The columns of the tile's head of the first table.
inline DistanceTable table_of_head(const DistanceRange& range, const HookTables& w, const ScoreTile& t) {
  DistanceTable table{range, w.values[0].columns(t.head * t.dim, t.dim), {}};
  if (w.gradients[0]) table.gradient = w.gradients[0].columns(t.head * t.dim, t.dim);
  return table;
}

/// One vector x_r a row of the tile, and what their products with the table count.
struct DistanceTerm {
  DistanceTable table = {};
  const float* x = nullptr;  // rows x_stride apart
  int64_t x_stride = 0;
  float factor = 1;

  /// For the rows of a tile from this one on.
  DistanceTerm from(int64_t row) const { return {table, x ? x + row * x_stride : nullptr, x_stride, factor}; }
};

/// s[r, c] += factor x_r . vectors[distance of r and c].
void add_products(const ScoreTile& t, const DistanceTerm& e, float* s);

/// out[r] += factor sum over c of w[r, c] vectors[distance of r and c], if there is an `out`; and where the table has a
/// gradient, gradient[distance] += factor sum of w[r, c] x_r over all r and c so far apart. It is the way back of
/// add_products (w: the gradient of s, out: that of x), and the value side of relative positions. `w` and `s` have
/// t.stride.
void add_sums(const ScoreTile& t, const DistanceTerm& e, const float* w, Rows out);

/// Floats of t.scratch that add_products and add_sums write to.
int64_t relative_scratch(int64_t dim);

// Biases by distance: one number for each of the rows + cols - 1 diagonals of a tile, the largest distance (last row,
// first column) first.

/// s[r, c] += bias[rows - 1 - r + c].
void add_bias(const ScoreTile& t, const float* bias, float* s);
/// sums[rows - 1 - r + c] += ds[r, c].
void add_diagonals(const ScoreTile& t, const float* ds, float* sums);

/// to[r] = q_r + row; rows of `to` lie `stride` apart.
void shift_queries(const ScoreTile& t, const float* row, float* to, int64_t stride);

inline constexpr int64_t kPieceRows = 96, kPieceCols = 128;
inline constexpr int64_t kPieceDistances = kPieceRows + kPieceCols;  // room for the diagonals of a piece

/// Rows [row, ..) and columns [col, ..) of a tile, as many as make a piece.
inline ScoreTile piece_of(const ScoreTile& t, int64_t row, int64_t col) {
  ScoreTile p = t;
  p.query += row;
  p.key += col;
  p.rows = std::min(kPieceRows, t.rows - row);
  p.cols = std::min(kPieceCols, t.cols - col);
  p.q += row * t.q_stride;
  p.query_places = t.query_places.from(row);
  p.key_places = t.key_places.from(col);
  return p;
}

/// f(piece, offset of its first score) for all pieces of a tile: for who needs a bound on its size.
template <class F>
void for_pieces(const ScoreTile& t, F f) {
  for (int64_t row = 0; row < t.rows; row += kPieceRows)
    for (int64_t col = 0; col < t.cols; col += kPieceCols) f(piece_of(t, row, col), row * t.stride + col);
}

/// s[r, c] += bias(distance of r and c); writes to kPieceDistances floats of the tile's scratch.
template <class F>
void add_biases(const ScoreTile& tile, float* s, F bias) {
  for_pieces(tile, [&](const ScoreTile& t, int64_t at) {
    if (const auto step = t.even_step()) {
      const int64_t diagonals = t.rows + t.cols - 1, most = t.distance(t.rows - 1, 0);
      for (int64_t i = 0; i < diagonals; ++i) t.scratch[i] = bias(most - *step * i);
      return add_bias(t, t.scratch, s + at);
    }
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t c = 0; c < t.cols; ++c) s[at + r * t.stride + c] += bias(t.distance(r, c));
  });
}

/// add(distance, sum of ds[r, c] over some r and c so far apart), until all of them are told; the same scratch.
template <class F>
void add_bias_gradients(const ScoreTile& tile, const float* ds, F add) {
  for_pieces(tile, [&](const ScoreTile& t, int64_t at) {
    if (const auto step = t.even_step()) {
      const int64_t diagonals = t.rows + t.cols - 1, most = t.distance(t.rows - 1, 0);
      std::fill_n(t.scratch, diagonals, 0.0f);
      add_diagonals(t, ds + at, t.scratch);
      for (int64_t i = 0; i < diagonals; ++i) add(most - *step * i, t.scratch[i]);
      return;
    }
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t c = 0; c < t.cols; ++c) add(t.distance(r, c), ds[at + r * t.stride + c]);
  });
}

/// The diagonals of a piece that tells no places as a tile of one row.
inline ScoreTile diagonals_of(const ScoreTile& t) {
  ScoreTile d = t;
  d.query += t.rows - 1;
  d.rows = 1;
  d.cols = d.stride = t.rows + t.cols - 1;
  return d;
}

}  // namespace kernels
}  // namespace attune
