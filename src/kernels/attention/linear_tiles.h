// What the passes of linearised attention share. Include after kernels/tile.h; once per instruction set.
#if defined(ATTUNE_LINEAR_TILES_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_LINEAR_TILES_PER_TARGET
#undef ATTUNE_LINEAR_TILES_PER_TARGET
#else
#define ATTUNE_LINEAR_TILES_PER_TARGET
#endif

#include "kernels/attention/attention_tiles.h"
#include "kernels/attention/linear_attention.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

// Rows that are taken at a time. Causal: inside a chunk each query weighs the keys before it one by one, chunks before
// it have gone into the sums. Counted from the sequence's first row and the same on every machine: where weighing ends
// and sums begin is part of the result's bits.
inline constexpr int64_t kChunk = 48;
HWY_INLINE constexpr int64_t strips_of(int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }
inline constexpr int64_t kStrips = strips_of(kChunk);

/// How many key-value heads are taken together, chunk by chunk: rows of all of them lie side by side, where the
/// hardware sees what comes next. All, unless there are too few sequences to keep the workers busy. Results don't
/// depend on it.
HWY_INLINE int64_t heads_together(const LinearShape& x, int workers) {
  const int64_t segments = x.queries->count();
  if (workers == 1 || segments == 0) return x.heads_kv;
  const int64_t parts = std::min(segments == 1 ? workers : (4 * workers + segments - 1) / segments, x.heads_kv);
  return (x.heads_kv + parts - 1) / parts;
}

/// What one call works on: a segment and some key-value heads, each with the query heads that share it.
struct LinearUnit {
  int64_t segment, first_head, last_head, group;  // heads [first_head, last_head)
  int64_t n, m, row, key_row;                     // n queries from `row` on, m keys from `key_row` on
  static int64_t parts(const LinearShape& x, int64_t together) { return (x.heads_kv + together - 1) / together; }
  LinearUnit(const LinearShape& x, int64_t together, int64_t unit)
      : segment(unit / parts(x, together)),
        first_head(unit % parts(x, together) * together),
        last_head(std::min(first_head + together, x.heads_kv)),
        group(x.heads / x.heads_kv),
        n(x.queries->length(segment)),
        m(x.keys->length(segment)),
        row(x.queries->begin(segment)),
        key_row(x.keys->begin(segment)) {}
};

/// A chunk of rows of one key-value head.
struct Piece {
  int64_t from, rows, head_kv;

  /// The next one going forward over `length` rows: of the next head, then of the next chunk. Maybe without rows.
  Piece after(const LinearUnit& u, int64_t length) const {
    if (head_kv + 1 < u.last_head) return {from, rows, head_kv + 1};
    return {from + kChunk, std::clamp<int64_t>(length - from - kChunk, 0, kChunk), u.first_head};
  }
  /// The next one going back.
  Piece before(const LinearUnit& u) const {
    if (head_kv + 1 < u.last_head) return {from, rows, head_kv + 1};
    return {from - kChunk, from > 0 ? kChunk : 0, u.first_head};
  }
};

/// body(piece) for every chunk of `length` rows, and in it every head.
template <class Body>
HWY_INLINE void for_pieces(const LinearUnit& u, int64_t length, Body body) {
  for (int64_t from = 0; from < length; from += kChunk)
    for (int64_t head = u.first_head; head < u.last_head; ++head)
      body(Piece{from, std::min(kChunk, length - from), head});
}

/// Floats that `rows` rows take as transposed panels.
HWY_INLINE int64_t panel_floats(int64_t rows, int64_t dim) { return (rows + kPanel - 1) / kPanel * kPanel * dim; }

/// The rows from `row` on, from `column` on; nowhere stays nowhere.
HWY_INLINE Rows rows_at(const Rows& x, int64_t row, int64_t column) {
  return {x.data ? x.data + row * x.stride + column : nullptr, x.stride};
}

/// x + 1 above 0, exp(x) below, but never 0. Not-a-number stays.
HWY_INLINE Pack<float> elu_plus_one(const Pack<float>& x) {
  return each([&](int i) HWY_ATTR {
    const F f;
    const auto magic = hn::Set(f, kRounder), log2e = hn::Set(f, 1.44269502f);
    const auto below = clamp_reg(x.r[i], -87.0f, 0.0f);  // where exp needs no bounds of its own
    const auto rounded = hn::MulAdd(below, log2e, magic);
    auto r = hn::MulSub(below, log2e, hn::Sub(rounded, magic));
    r = hn::MulAdd(below, hn::Set(f, 1.92596299e-8f), r);
    return hn::IfThenElse(hn::Gt(x.r[i], hn::Zero(f)), hn::Add(x.r[i], hn::Set(f, 1.0f)), exp2_part(r, rounded));
  });
}

/// phi of rows, side by side, padded with zeros to whole packs.
HWY_INLINE void map_rows(FeatureMap feature, const Rows& from, int64_t rows, int64_t dim, float* to) {
  if (feature == FeatureMap::none) return copy_dense(from.data, from.stride, rows, dim, to);
  const int64_t padded = round16(dim);
  for (int64_t r = 0; r < rows; ++r, to += padded) {
    const float* x = from.data + r * from.stride;
    for_packs(dim, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto phi = elu_plus_one(load_at(x + j, count));
      store(count == 16 ? phi : first_n(phi, count, zero<float>()), to + j);
    });
  }
}

/// block_product in strips of rows, with time to look ahead between them.
template <bool kTransA>
HWY_INLINE void strip_product(const Block& x, bool add, Ahead& ahead) {
  for (int64_t i = 0; i < x.m; i += kTileRows) {
    block_product<kTransA>({std::min<int64_t>(kTileRows, x.m - i), x.n, x.k, kTransA ? x.a + i : x.a + i * x.a_stride,
                            x.a_stride, x.b, x.b_stride, x.c + i * x.c_stride, x.c_stride},
                           add);
    ahead.some();
  }
}

/// s[i, j] = a_i . b_j for j <= i, a square of up to kChunk rows, kChunk apart; b transposed in panels. Between the
/// diagonal and the end of a strip of rows, and of its last pack, there are zeros; beyond is nothing to be read.
HWY_INLINE void lower_scores(const Rows& a, int64_t rows, int64_t dim, const float* panels, float* s, Ahead& ahead) {
  for (int64_t strip = 0; strip < rows; strip += kTileRows) {
    const int64_t end = std::min<int64_t>(rows, strip + kTileRows);
    panel_scores(a.data + strip * a.stride, a.stride, end - strip, dim, panels, {0, end}, s + strip * kChunk, kChunk);
    for (int64_t i = strip; i < end; ++i)
      for (int64_t c = (i + 1) / 16 * 16; c < end; c += 16)
        store(first_n(load(s + i * kChunk + c), i + 1 - c, zero<float>()), s + i * kChunk + c);
    ahead.some();
  }
}

/// A triangle of scores times rows b: `width` columns of them, whole packs.
struct Triangle {
  const float* s;
  int64_t rows;
  Rows b;
  int64_t width;
  Rows to;
};

/// to_i (+)= sum over j <= i of s[i, j] b_j.
HWY_INLINE void lower_product(const Triangle& x, bool add, Ahead& ahead) {
  for (int64_t strip = 0; strip < x.rows; strip += kTileRows) {
    const int64_t end = std::min<int64_t>(x.rows, strip + kTileRows);
    block_product<false>({end - strip, x.width, end, x.s + strip * kChunk, kChunk, x.b.data, x.b.stride,
                          x.to.data + strip * x.to.stride, x.to.stride},
                         add);
    ahead.some();
  }
}

/// to_j (+)= sum over i >= j of s[i, j] b_i.
HWY_INLINE void upper_product(const Triangle& x, bool add, Ahead& ahead) {
  for (int64_t strip = 0; strip < x.rows; strip += kTileRows) {
    const int64_t end = std::min<int64_t>(x.rows, strip + kTileRows);
    block_product<true>({end - strip, x.width, x.rows - strip, x.s + strip * kChunk + strip, kChunk,
                         x.b.data + strip * x.b.stride, x.b.stride, x.to.data + strip * x.to.stride, x.to.stride},
                        add);
    ahead.some();
  }
}

KERNELS_END

#endif
