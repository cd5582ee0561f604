#include "kernels/relative.h"

#define KERNELS_FILE "kernels/relative.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/attention_tiles.h"
#include "kernels/tile.h"

KERNELS_BEGIN

inline constexpr int64_t kRun = 4 * kTileRows;  // distances whose gradients are summed at a time

/// How a tile's scratch is cut. What is called dense holds rows of whole packs, where the columns of a head are not.
struct RelativeSpace {
  float* vectors;          // transposed in panels, or dense
  float* sums;             // [kPieceRows, kPieceDistances]
  float *x, *out, *grads;  // dense
  static int64_t layout(int64_t dim, float* base, RelativeSpace* s) {
    const int64_t width = round16(dim), ragged = width == dim ? 0 : width;
    Take take{base};
    const RelativeSpace out{take((kPieceDistances + kPanel) * width), take(kPieceRows * kPieceDistances),
                            take(kPieceRows * ragged), take(kPieceRows * ragged), take(kPieceDistances * ragged)};
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

void add_piece(const ScoreTile& t, const DistanceTerm& e, const float* x, const RelativeSpace& w, float* s) {
  const Met met(e.table.range, t);
  const float* vectors = met.first_of(e.table.vectors);
  const int64_t stride = e.table.vectors.stride;
  if (t.rows == 1) {  // a decoding step: to transpose the vectors would cost more than the products
    for (int64_t i = 0; i < met.count; ++i) w.sums[i] = dot_product(x, vectors + i * stride, t.dim);
    return spread(met, 0, w.sums, 0, e.factor, s);
  }
  pack_transposed(vectors, stride, met.count, t.dim, w.vectors);
  for (int64_t strip = 0; strip < t.rows; strip += kTileRows) {
    const int64_t rows = std::min<int64_t>(kTileRows, t.rows - strip);
    const Mask::Range some = met.of_rows(strip, rows);
    const int64_t from = some.from / 16 * 16;
    panel_scores(x + strip * e.x_stride, e.x_stride, rows, t.dim, w.vectors, {from, some.to}, w.sums, kPieceDistances);
    for (int64_t r = 0; r < rows; ++r)
      spread(met, strip + r, w.sums + r * kPieceDistances, from, e.factor, s + (strip + r) * t.stride);
  }
}

void add_products(const ScoreTile& t, const DistanceTerm& e, float* s) {
  RelativeSpace w;
  RelativeSpace::layout(t.dim, t.scratch, &w);
  for (int64_t row = 0; row < t.rows; row += kPieceRows)
    for (int64_t col = 0; col < t.cols; col += kPieceCols)
      add_piece(piece_of(t, row, col), e, e.x + row * e.x_stride, w, s + row * t.stride + col);
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

void add_sums(const ScoreTile& t, const DistanceTerm& e, const float* weights, Rows out) {
  RelativeSpace w;
  RelativeSpace::layout(t.dim, t.scratch, &w);
  for (int64_t row = 0; row < t.rows; row += kPieceRows)
    for (int64_t col = 0; col < t.cols; col += kPieceCols) {
      const ScoreTile p = piece_of(t, row, col);
      const Met met(e.table.range, p);
      gather(p, met, e.factor, weights + row * t.stride + col, w.sums);
      if (out.data) sums_to_rows(p, met, e.table.vectors, w, {out.data + row * out.stride, out.stride});
      if (e.table.gradient)
        sums_to_table(p, met, {const_cast<float*>(e.x) + row * e.x_stride, e.x_stride}, e.table.gradient, w);
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
