// What the passes of linearised attention share. Include after kernels/tile.h; once per instruction set.
#if defined(ATTUNE_LINEAR_TILES_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_LINEAR_TILES_PER_TARGET
#undef ATTUNE_LINEAR_TILES_PER_TARGET
#else
#define ATTUNE_LINEAR_TILES_PER_TARGET
#endif

#include "kernels/attention_tiles.h"
#include "kernels/linear_attention.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

// Rows that are taken at a time. Causal: inside a chunk each query weighs the keys before it one by one, chunks before
// it have gone into the sums. Counted from the sequence's first row and the same on every machine: where weighing ends
// and sums begin is part of the result's bits.
inline constexpr int64_t kChunk = 64;

/// What one call works on: a segment and a key-value head with the query heads that share it.
struct LinearUnit {
  int64_t segment, head_kv, group, n, m, row, key_row;  // n queries from `row` on, m keys from `key_row` on
  LinearUnit(const LinearShape& x, int64_t unit)
      : segment(unit / x.heads_kv),
        head_kv(unit % x.heads_kv),
        group(x.heads / x.heads_kv),
        n(x.queries->length(segment)),
        m(x.keys->length(segment)),
        row(x.queries->begin(segment)),
        key_row(x.keys->begin(segment)) {}
};

/// The rows from `row` on, from `column` on.
HWY_INLINE Rows rows_at(const Rows& x, int64_t row, int64_t column) {
  return {x.data + row * x.stride + column, x.stride};
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

/// s[i, j] = a_i . b_j for j <= i, a square of up to kChunk rows, kChunk apart; b transposed in panels. Between the
/// diagonal and the end of a strip of rows, and of its last pack, there are zeros; beyond is nothing to be read.
HWY_INLINE void lower_scores(const Rows& a, int64_t rows, int64_t dim, const float* panels, float* s) {
  for (int64_t strip = 0; strip < rows; strip += kTileRows) {
    const int64_t end = std::min<int64_t>(rows, strip + kTileRows);
    panel_scores(a.data + strip * a.stride, a.stride, end - strip, dim, panels, {0, end}, s + strip * kChunk, kChunk);
    for (int64_t i = strip; i < end; ++i)
      for (int64_t c = (i + 1) / 16 * 16; c < end; c += 16)
        store(first_n(load(s + i * kChunk + c), i + 1 - c, zero<float>()), s + i * kChunk + c);
  }
}

/// to_i (+)= sum over j <= i of s[i, j] b_j; `width` columns, whole packs.
HWY_INLINE void lower_product(const float* s, int64_t rows, const Rows& b, int64_t width, const Rows& to, bool add) {
  for (int64_t strip = 0; strip < rows; strip += kTileRows) {
    const int64_t end = std::min<int64_t>(rows, strip + kTileRows);
    block_product<false>(
        {end - strip, width, end, s + strip * kChunk, kChunk, b.data, b.stride, to.data + strip * to.stride, to.stride},
        add);
  }
}

/// to_j (+)= sum over i >= j of s[i, j] b_i.
HWY_INLINE void upper_product(const float* s, int64_t rows, const Rows& b, int64_t width, const Rows& to, bool add) {
  for (int64_t strip = 0; strip < rows; strip += kTileRows) {
    const int64_t end = std::min<int64_t>(rows, strip + kTileRows);
    block_product<true>({end - strip, width, rows - strip, s + strip * kChunk + strip, kChunk,
                         b.data + strip * b.stride, b.stride, to.data + strip * to.stride, to.stride},
                        add);
  }
}

KERNELS_END

#endif
