#include "kernels/attention/relative.h"

#define KERNELS_FILE "kernels/attention/relative.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/attention/attention_tiles.h"
#include "kernels/tile.h"

KERNELS_BEGIN

inline constexpr int64_t kRun = 4 * kTileRows;  // distances whose gradients are summed at a time

/// How a tile's scratch is cut. What is called dense holds rows of whole packs, where the columns of a head are not.
struct RelativeSpace {
  float* vectors;          // transposed in panels, or dense
  float* sums;             // [kPieceRows, kPieceDistances]
  float *x, *out, *grads;  // dense
  float* own;              // the vectors of a piece's diagonals, where places are told
  static int64_t layout(int64_t dim, float* base, RelativeSpace* s) {
    const int64_t width = round16(dim), ragged = width == dim ? 0 : width;
    Take take{base};
    const RelativeSpace out{take((kPieceDistances + kPanel) * width),
                            take(kPieceRows * kPieceDistances),
                            take(kPieceRows * ragged),
                            take(kPieceRows * ragged),
                            take(kPieceDistances * ragged),
                            take(kPieceDistances * width)};
    if (s) *s = out;
    return take.at - base;
  }
};

/// The distances that a piece meets, clipped: `count` rows of the table, the largest distance first. Columns of a row
/// that lie within the range have consecutive ones.
struct Met {
  DistanceRange range;
  int64_t corner;       // the distance of row 0 and column 0
  int64_t cols;         // of the piece
  int64_t high, count;  // the largest of them, and how many there are

  Met(const DistanceRange& r, const ScoreTile& t) : range(r), corner(t.distance()), cols(t.cols) {
    high = clipped(corner + t.rows - 1);
    count = high - clipped(corner - t.cols + 1) + 1;
  }
  /// Those between two distances.
  Met(const DistanceRange& r, int64_t most, int64_t least)
      : range(r), corner(0), cols(0), high(clipped(most)), count(high - clipped(least) + 1) {}
  int64_t clipped(int64_t distance) const { return std::clamp(distance, range.low, range.high); }
  /// Columns of row r within the range; those before count as the largest distance, those after as the smallest.
  Mask::Range within(int64_t r) const {
    const int64_t from = std::clamp<int64_t>(corner + r - range.high, 0, cols);
    return {from, std::clamp<int64_t>(corner + r - range.low + 1, from, cols)};
  }
  /// Where the distance of row r and column c is among those met, for a column within the range.
  int64_t at(int64_t r, int64_t c) const { return high - corner - r + c; }
  /// Those that rows [row, row + rows) meet.
  Mask::Range of_rows(int64_t row, int64_t rows) const {
    return {high - clipped(corner + row + rows - 1), high - clipped(corner + row - cols + 1) + 1};
  }
  const float* first_of(const Tensor& table) const { return table.row<float>(range.row(high)); }
};

/// s[c] += factor products[distance of row r and column c]; products begin at the `from`-th distance met.
HWY_INLINE void spread(const Met& met, int64_t r, const float* products, int64_t from, float factor, float* s) {
  const Mask::Range own = met.within(r);
  const auto by = splat(factor);
  const auto add_same = [&](int64_t c, int64_t cols, float product) HWY_ATTR {
    const auto p = splat(product);
    for_packs(cols, [&](int64_t j, int64_t count)
                        HWY_ATTR { store_at(fma(p, by, load_at(s + c + j, count)), s + c + j, count); });
  };
  if (own.from > 0) add_same(0, own.from, products[-from]);
  const int64_t first = met.at(r, own.from) - from;
  for_packs(own.to - own.from, [&](int64_t j, int64_t count) HWY_ATTR {
    float* to = s + own.from + j;
    store_at(fma(load_at(products + first + j, count), by, load_at(to, count)), to, count);
  });
  if (own.to < met.cols) add_same(own.to, met.cols - own.to, products[met.count - 1 - from]);
}

HWY_INLINE float dot_product(const float* x, const float* y, int64_t dim) {
  auto total = zero<float>();
  for_packs(dim, [&](int64_t d, int64_t count)
                     HWY_ATTR { total = fma(load_at(x + d, count), load_at(y + d, count), total); });
  return sum(total);
}

void add_piece(const ScoreTile& t, const DistanceTerm& e, const RelativeSpace& w, float* s) {
  const Met met(e.table.range, t);
  const float* vectors = met.first_of(e.table.vectors);
  const int64_t stride = e.table.vectors.stride;
  if (t.rows == 1) {  // a decoding step: to transpose the vectors would cost more than the products
    for (int64_t i = 0; i < met.count; ++i) w.sums[i] = dot_product(e.x, vectors + i * stride, t.dim);
    return spread(met, 0, w.sums, 0, e.factor, s);
  }
  pack_transposed(vectors, stride, met.count, t.dim, w.vectors);
  for (int64_t strip = 0; strip < t.rows; strip += kTileRows) {
    const int64_t rows = std::min<int64_t>(kTileRows, t.rows - strip);
    const Mask::Range some = met.of_rows(strip, rows);
    const int64_t from = some.from / 16 * 16;
    panel_scores(e.x + strip * e.x_stride, e.x_stride, rows, t.dim, w.vectors, {from, some.to}, w.sums,
                 kPieceDistances);
    for (int64_t r = 0; r < rows; ++r)
      spread(met, strip + r, w.sums + r * kPieceDistances, from, e.factor, s + (strip + r) * t.stride);
  }
}

/// sums[r, i] = factor times the sum of w[r, c] over the columns whose distance is the i-th met.
void gather(const ScoreTile& t, const Met& met, float factor, const float* w, float* sums) {
  const auto by = splat(factor);
  for (int64_t r = 0; r < t.rows; ++r, w += t.stride, sums += kPieceDistances) {
    for (int64_t i = 0; i < met.count; i += 16) store(zero<float>(), sums + i);
    const Mask::Range own = met.within(r);
    const int64_t first = met.at(r, own.from);
    for_packs(own.to - own.from, [&](int64_t j, int64_t count) HWY_ATTR {
      store_at(load_at(w + own.from + j, count) * by, sums + first + j, count);
    });
    if (own.from > 0) sums[0] += factor * sum_of(w, own.from);
    if (own.to < t.cols) sums[met.count - 1] += factor * sum_of(w + own.to, t.cols - own.to);
  }
}

/// Rows in a form that products may read, and write, in whole registers: in place if they are, else copied.
HWY_INLINE Rows whole(const float* rows, int64_t stride, int64_t count, int64_t dim, float* space) {
  if (dim % 16 == 0) return {const_cast<float*>(rows), stride};
  copy_dense(rows, stride, count, dim, space);
  return {space, round16(dim)};
}

/// to += rows of a dense copy.
HWY_INLINE void add_back(const float* from, int64_t count, int64_t dim, float* to, int64_t stride) {
  for (int64_t r = 0; r < count; ++r, from += round16(dim), to += stride)
    for_packs(dim, [&](int64_t d, int64_t n) HWY_ATTR { store_at(load_at(to + d, n) + load(from + d), to + d, n); });
}

/// out[r] += sums[r] times the vectors met: strip by strip, each with its own distances.
void sums_to_rows(const ScoreTile& t, const Met& met, const Tensor& vectors, const RelativeSpace& w, Rows out) {
  const int64_t width = round16(t.dim);
  const bool in_place = width == t.dim;
  const Rows v = whole(met.first_of(vectors), vectors.stride, met.count, t.dim, w.vectors);
  const Rows to = in_place ? out : Rows{w.out, width};
  for (int64_t strip = 0; strip < t.rows; strip += kTileRows) {
    const int64_t rows = std::min<int64_t>(kTileRows, t.rows - strip);
    const Mask::Range some = met.of_rows(strip, rows);
    block_product<false>(
        {rows, width, some.to - some.from, w.sums + strip * kPieceDistances + some.from, kPieceDistances,
         v.data + some.from * v.stride, v.stride, to.data + strip * to.stride, to.stride},
        in_place);
  }
  if (!in_place) add_back(w.out, t.rows, t.dim, out.data, out.stride);
}

/// gradient[i] += sum over r of sums[r, i] x_r: a run of distances at a time, from the rows that meet it.
void sums_to_table(const ScoreTile& t, const Met& met, Rows given, const Tensor& gradient, const RelativeSpace& w) {
  const int64_t width = round16(t.dim);
  const bool in_place = width == t.dim;
  const Rows x = whole(given.data, given.stride, t.rows, t.dim, w.x);
  float* first = const_cast<float*>(met.first_of(gradient));
  const Rows to = in_place ? Rows{first, gradient.stride} : Rows{w.grads, width};
  for (int64_t i = 0; i < met.count; i += kRun) {
    const int64_t count = std::min(kRun, met.count - i);
    // a row meets the distances from corner + row down to corner + row - (cols - 1), and more where they are clipped
    int64_t row = met.high - (i + count - 1) - met.corner, end = met.high - i - met.corner + t.cols;
    if (i + count == met.count) row = 0;
    if (i == 0) end = t.rows;
    row = std::clamp<int64_t>(row, 0, t.rows);
    end = std::clamp<int64_t>(end, row, t.rows);
    if (row < end || !in_place)
      block_product<true>({count, width, end - row, w.sums + row * kPieceDistances + i, kPieceDistances,
                           x.data + row * x.stride, x.stride, to.data + i * to.stride, to.stride},
                          in_place);
  }
  if (!in_place) add_back(w.grads, met.count, t.dim, first, gradient.stride);
}

void sum_piece(const ScoreTile& t, const DistanceTerm& e, const float* weights, const RelativeSpace& w, Rows out) {
  const Met met(e.table.range, t);
  gather(t, met, e.factor, weights, w.sums);
  if (out.data) sums_to_rows(t, met, e.table.vectors, w, out);
  if (e.table.gradient) sums_to_table(t, met, {const_cast<float*>(e.x), e.x_stride}, e.table.gradient, w);
}

// --- Where places are told -------------------------------------------------------------------------------------------

/// A piece with evenly spaced places is one without told places, over a table that has a row for each of its diagonals:
/// a copy of the vector that the diagonal's distance has.
class Diagonals {
 public:
  Diagonals(const ScoreTile& t, int64_t step, const DistanceTerm& e, const RelativeSpace& w)
      : plain_(t), term_(e), all_(e.table), most_(t.distance(t.rows - 1, 0)), step_(step) {
    plain_.query_places = plain_.key_places = {};
    plain_.query = plain_.key = plain_.queries = plain_.keys = 0;
    const Shape shape{t.rows + t.cols - 1, round16(t.dim)};
    term_.table.range = {1 - t.cols, t.rows - 1};
    term_.table.vectors = Tensor(w.own, shape).columns(0, t.dim);
    for (int64_t i = 0; i < shape[0]; ++i)
      copy_dense(all_.vectors.row<float>(row(i)), 0, 1, t.dim, w.own + i * shape[1]);
  }
  const ScoreTile& tile() const { return plain_; }
  const DistanceTerm& term() const { return term_; }

 private:
  int64_t row(int64_t diagonal) const { return all_.range.row(most_ - step_ * diagonal); }

  ScoreTile plain_;
  DistanceTerm term_;
  DistanceTable all_;
  int64_t most_, step_;
};

/// All distances from the least to the largest that a piece meets.
Met met_anywhere(const DistanceRange& range, const ScoreTile& t) {
  const auto ends = [](const RowPlaces& p, int64_t n) {
    Mask::Range e{p[0], p[0]};
    for (int64_t i = 1; i < n; ++i) e = {std::min(e.from, p[i]), std::max(e.to, p[i])};
    return e;
  };
  const Mask::Range q = ends(t.query_places, t.rows), k = ends(t.key_places, t.cols);
  return {range, q.to - k.from, q.from - k.to};
}

/// Whether a product with each of these is less work than one for each pair, which is read from anywhere.
bool worth_a_block(const Met& met, const ScoreTile& t) {
  return t.rows > 1 && met.count <= std::min(kPieceDistances, 4 * t.cols);
}

/// f(row, column, row of the table) for all pairs.
template <class F>
HWY_INLINE void each_pair(const ScoreTile& t, const DistanceRange& range, F f) {
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t c = 0; c < t.cols; ++c) f(r, c, range.row(t.distance(r, c)));
}

/// As the panels' products have it: one chain, whichever way the vectors are read.
float chain_product(const float* x, const float* y, int64_t dim) {
  float sum = 0;
  for (int64_t d = 0; d < dim; ++d) sum = std::fma(x[d], y[d], sum);
  return sum;
}

void add_placed_piece(const ScoreTile& t, const DistanceTerm& e, const RelativeSpace& w, float* s) {
  const auto step = t.rows > 1 ? t.even_step() : std::nullopt;
  if (step) {
    const Diagonals own(t, *step, e, w);
    return add_piece(own.tile(), own.term(), w, s);
  }
  const Tensor& vectors = e.table.vectors;
  const Met met = met_anywhere(e.table.range, t);
  if (!worth_a_block(met, t))
    return each_pair(t, e.table.range, [&](int64_t r, int64_t c, int64_t row) {
      float& to = s[r * t.stride + c];
      to = std::fma(chain_product(e.x + r * e.x_stride, vectors.row<float>(row), t.dim), e.factor, to);
    });
  pack_transposed(met.first_of(vectors), vectors.stride, met.count, t.dim, w.vectors);
  for (int64_t strip = 0; strip < t.rows; strip += kTileRows)
    panel_scores(e.x + strip * e.x_stride, e.x_stride, std::min<int64_t>(kTileRows, t.rows - strip), t.dim, w.vectors,
                 {0, met.count}, w.sums + strip * kPieceDistances, kPieceDistances);
  const int64_t first = e.table.range.row(met.high);
  each_pair(t, e.table.range, [&](int64_t r, int64_t c, int64_t row) {
    float& to = s[r * t.stride + c];
    to = std::fma(w.sums[r * kPieceDistances + row - first], e.factor, to);
  });
}

/// to += factor x.
HWY_INLINE void add_scaled(const float* x, float factor, int64_t dim, float* to) {
  const auto by = splat(factor);
  for_packs(
      dim, [&](int64_t d, int64_t n) HWY_ATTR { store_at(fma(load_at(x + d, n), by, load_at(to + d, n)), to + d, n); });
}

/// Pair by pair: what a row sums up must not depend on which others its piece has.
void sum_placed_piece(const ScoreTile& t, const DistanceTerm& e, const float* weights, Rows out) {
  each_pair(t, e.table.range, [&](int64_t r, int64_t c, int64_t row) HWY_ATTR {
    const float weight = e.factor * weights[r * t.stride + c];
    if (weight == 0) return;  // the mask hides it
    if (out.data) add_scaled(e.table.vectors.row<float>(row), weight, t.dim, out.data + r * out.stride);
    if (e.table.gradient) add_scaled(e.x + r * e.x_stride, weight, t.dim, e.table.gradient.row<float>(row));
  });
}

void add_products(const ScoreTile& t, const DistanceTerm& e, float* s) {
  RelativeSpace w;
  RelativeSpace::layout(t.dim, t.scratch, &w);
  for (int64_t row = 0; row < t.rows; row += kPieceRows)
    for (int64_t col = 0; col < t.cols; col += kPieceCols) {
      const ScoreTile p = piece_of(t, row, col);
      float* to = s + row * t.stride + col;
      if (t.placed())
        add_placed_piece(p, e.from(row), w, to);
      else
        add_piece(p, e.from(row), w, to);
    }
}

void add_sums(const ScoreTile& t, const DistanceTerm& e, const float* weights, Rows out) {
  RelativeSpace w;
  RelativeSpace::layout(t.dim, t.scratch, &w);
  for (int64_t row = 0; row < t.rows; row += kPieceRows)
    for (int64_t col = 0; col < t.cols; col += kPieceCols) {
      const ScoreTile p = piece_of(t, row, col);
      const float* from = weights + row * t.stride + col;
      const Rows to{out.data ? out.data + row * out.stride : nullptr, out.stride};
      if (t.placed())
        sum_placed_piece(p, e.from(row), from, to);
      else
        sum_piece(p, e.from(row), from, w, to);
    }
}

int64_t relative_floats(int64_t dim) { return RelativeSpace::layout(dim, nullptr, nullptr); }

void add_bias(const ScoreTile& t, const float* bias, float* s) {
  bias += t.rows - 1;
  for (int64_t r = 0; r < t.rows; ++r, --bias, s += t.stride)
    for_packs(t.cols, [&](int64_t c, int64_t count)
                          HWY_ATTR { store_at(load_at(s + c, count) + load_at(bias + c, count), s + c, count); });
}

/// Each diagonal is one chain down the rows. Eight rows at a time pass through a register, so that the next ones do not
/// wait for the sums' way through memory.
void add_diagonals(const ScoreTile& t, const float* ds, float* sums) {
  constexpr int64_t kRows = 8;
  for (int64_t row = 0; row < t.rows; row += kRows) {
    const int64_t rows = std::min(kRows, t.rows - row);
    const float* x = ds + row * t.stride;
    float* to = sums + t.rows - 1 - row;  // of the first of these rows
    int64_t c = 1 - rows;
    for (; c < 0; ++c) {
      float total = to[c];
      for (int64_t k = -c; k < rows && c + k < t.cols; ++k) total += x[k * t.stride + c + k];
      to[c] = total;
    }
    for (; rows == kRows && c + 16 + kRows - 1 <= t.cols; c += 16) {
      auto total = load(to + c);
#pragma GCC unroll 8
      for (int64_t k = 0; k < kRows; ++k) total = total + load(x + k * (t.stride + 1) + c);
      store(total, to + c);
    }
    for (; c < t.cols; c += 16) {
      const int64_t count = std::min<int64_t>(16, t.cols - c);
      auto total = load_at(to + c, count);
      for (int64_t k = 0; k < rows && c + k < t.cols; ++k)
        total = total + load_at(x + k * (t.stride + 1) + c, std::min<int64_t>(16, t.cols - c - k));
      store_at(total, to + c, count);
    }
  }
}

void shift_queries(const ScoreTile& t, const float* row, float* to, int64_t stride) {
  for (int64_t r = 0; r < t.rows; ++r)
    for_packs(t.dim, [&](int64_t d, int64_t count) HWY_ATTR {
      store_at(load_at(t.q + r * t.q_stride + d, count) + load_at(row + d, count), to + r * stride + d, count);
    });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(add_products);
KERNEL_EXPORT(add_sums);
KERNEL_EXPORT(relative_floats);
KERNEL_EXPORT(add_bias);
KERNEL_EXPORT(add_diagonals);
KERNEL_EXPORT(shift_queries);

void add_products(const ScoreTile& t, const DistanceTerm& e, float* s) { KERNEL_CALL(add_products)(t, e, s); }
void add_sums(const ScoreTile& t, const DistanceTerm& e, const float* w, Rows out) {
  KERNEL_CALL(add_sums)(t, e, w, out);
}
int64_t relative_scratch(int64_t dim) { return HWY_DYNAMIC_DISPATCH(relative_floats)(dim); }
void add_bias(const ScoreTile& t, const float* bias, float* s) { KERNEL_CALL(add_bias)(t, bias, s); }
void add_diagonals(const ScoreTile& t, const float* ds, float* sums) { KERNEL_CALL(add_diagonals)(t, ds, sums); }
void shift_queries(const ScoreTile& t, const float* row, float* to, int64_t stride) {
  KERNEL_CALL(shift_queries)(t, row, to, stride);
}

}  // namespace attune::kernels
#endif
