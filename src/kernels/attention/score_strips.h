// A strip of scores: a few queries of one head times the keys they see, as the forward and the backward pass of
// score attention make it. Include after kernels/simd.h; once per instruction set.
#if defined(ATTUNE_SCORE_STRIPS_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_SCORE_STRIPS_PER_TARGET
#undef ATTUNE_SCORE_STRIPS_PER_TARGET
#else
#define ATTUNE_SCORE_STRIPS_PER_TARGET
#endif

#include "kernels/attention/attention_tiles.h"
#include "kernels/attention/score_attention.h"
#include "kernels/attention/score_rows.h"
#include "kernels/tile.h"

KERNELS_BEGIN

// A strip is as high as its scores stay near: the more rows, the fewer times the keys are read. Its height shows in the
// gradients of keys that several heads share, so it depends on the sequence's own length and the mask alone.
inline constexpr int64_t kStripFloats = 65536;
inline constexpr int64_t kStripRows = 8 * kTileRows, kLeastStripRows = 4 * kTileRows;

/// The most keys that a strip of a sequence with m keys can see, with what brings it to whole packs.
HWY_INLINE int64_t strip_window(const AttentionShape& x, int64_t m) {
  const int64_t all = round16(m);
  if (!banded(x.mask)) return all;
  return std::min(all, round16(x.mask.before + std::max<int64_t>(x.mask.after, 0) + kStripRows + 16));
}
HWY_INLINE int64_t strip_rows(int64_t window) {
  return std::clamp(kStripFloats / std::max<int64_t>(window, 1) / kTileRows * kTileRows, kLeastStripRows, kStripRows);
}
/// Rows lie a line further apart than they are long, so that they do not fall into one set of the cache.
HWY_INLINE int64_t strip_stride(int64_t window) { return window + 16; }
/// Room for a strip of any sequence with up to `longest` keys.
HWY_INLINE int64_t strip_floats(const AttentionShape& x, int64_t longest) {
  return std::max(kStripFloats + 16 * kStripRows, kLeastStripRows * strip_stride(strip_window(x, longest)));
}

/// The keys of one segment and key-value head as scores need them.
struct StripKeys {
  float* transposed;  // panels of kPanel keys
  float* halves;      // -|k|^2 / 2 of each, for l2
  static int64_t floats(const ScoreShape& x, int64_t keys) { return (keys + 63) / 64 * 64 * x.attention.dim; }
  static int64_t half_floats(const ScoreShape& x, int64_t keys) { return x.rule.score == ScoreKind::l2 ? keys : 0; }
};

HWY_INLINE void pack_keys(const ScoreShape& x, const float* k, int64_t stride, int64_t m, const StripKeys& to) {
  const int64_t dim = x.attention.dim;
  pack_transposed(k, stride, m, dim, to.transposed);
  if (x.rule.score != ScoreKind::l2) return;
  for (int64_t j = 0; j < m; ++j) {
    auto total = zero<float>();
    for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR {
      const auto v = load_at(k + j * stride + d, count);
      total = fma(v, v, total);
    });
    to.halves[j] = -0.5f * sum(total);
  }
}

struct ScoreStrip {
  const ScoreShape& x;
  int64_t segment, head, query, rows;
  Mask::Range keys;  // that any of its queries sees; from a multiple of 16
  float* s;          // scores, then weights: column c is key keys.from + c
  int64_t stride;

  ScoreStrip(const ScoreShape& shape, int64_t at_segment, int64_t at_query, float* scores)
      : x(shape), segment(at_segment), head(0), query(at_query), s(scores) {
    const AttentionShape& a = x.attention;
    const int64_t window = strip_window(a, a.keys->length(segment));
    rows = std::min(strip_rows(window), a.queries->length(segment) - query);
    stride = strip_stride(window);
    const Mask::Range all = keys_of_rows(a, segment, query, rows);
    keys.from = all.from / 16 * 16;
    keys.to = all.from < all.to ? all.to : keys.from;
  }
  int64_t count() const { return keys.to - keys.from; }
  /// The columns that row r sees.
  Mask::Range seen(int64_t r) const {
    const AttentionShape& a = x.attention;
    const Mask::Range k = a.mask.keys_of(query + r, a.queries->length(segment), a.keys->length(segment), segment);
    return k.from < k.to ? Mask::Range{k.from - keys.from, k.to - keys.from} : Mask::Range{0, 0};
  }
  /// The row in the packed batch.
  int64_t row(int64_t r) const { return x.attention.queries->begin(segment) + query + r; }
};

/// Whole packs around a range of columns.
HWY_INLINE Mask::Range packs_of(Mask::Range c) { return {c.from / 16 * 16, round16(c.to)}; }

/// The strip's queries side by side; with additive scores the bias is added.
HWY_INLINE void take_queries(const ScoreStrip& t, const Rows& q, float* to) {
  const int64_t dim = t.x.attention.dim, width = round16(dim);
  copy_dense(q.data + t.row(0) * q.stride + t.head * dim, q.stride, t.rows, dim, to);
  if (t.x.rule.score != ScoreKind::additive || !t.x.rule.bias) return;
  const float* bias = t.x.rule.bias + t.head * dim;
  for (int64_t r = 0; r < t.rows; ++r)
    for_packs(dim, [&](int64_t d, int64_t count)
                       HWY_ATTR { store(load(to + r * width + d) + load_at(bias + d, count), to + r * width + d); });
}

/// s[r, c] = sum over d of v_d tanh(q_rd + k_cd): sixteen keys at a time, one chain over d each.
inline void additive_scores(const ScoreStrip& t, const float* q, const float* panels) {
  const int64_t dim = t.x.attention.dim, width = round16(dim);
  const float* v = t.x.rule.vector + t.head * dim;
  for (int64_t r = 0; r < t.rows; ++r, q += width) {
    const Mask::Range packs = packs_of(t.seen(r));
    for (int64_t c = packs.from; c < packs.to; c += 16) {
      const int64_t key = t.keys.from + c;
      const float* k = panels + key / kPanel * kPanel * dim + key % kPanel;
      auto total = zero<float>();
      for (int64_t d = 0; d < dim; ++d) total = fma(splat(v[d]), tanh(load(k + d * kPanel) + splat(q[d])), total);
      store(total, t.s + r * t.stride + c);
    }
  }
}

/// The scores of a strip that sees some key, given its queries as take_queries leaves them.
HWY_INLINE void score_strip(const ScoreStrip& t, const float* q, const StripKeys& keys) {
  const int64_t dim = t.x.attention.dim;
  if (t.x.rule.score == ScoreKind::additive) return additive_scores(t, q, keys.transposed);
  panel_scores(q, round16(dim), t.rows, dim, keys.transposed, t.keys, t.s, t.stride);
  if (t.x.rule.score != ScoreKind::l2) return;
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t c = 0; c < t.count(); c += 16)
      store(load(t.s + r * t.stride + c) + load(keys.halves + t.keys.from + c), t.s + r * t.stride + c);
}

/// Row r of a strip of scores becomes weights; dropout is still to come. Returns the packs outside of which all are 0.
HWY_INLINE Mask::Range weigh_row(const ScoreStrip& t, int64_t r) {
  float* s = t.s + r * t.stride;
  const Mask::Range seen = t.seen(r), packs = packs_of(seen);
  for (int64_t c = 0; c < packs.from; c += 16) store(zero<float>(), s + c);
  for (int64_t c = packs.to; c < t.count(); c += 16) store(zero<float>(), s + c);
  if (seen.from >= seen.to) return packs;
  hide(s + packs.from, {seen.from - packs.from, seen.to - packs.from}, packs.to - packs.from);
  normalise_row(t.x.rule.normaliser, score_factor(t.x.rule, t.x.attention.scale), s + packs.from,
                packs.to - packs.from);
  return packs;
}

KERNELS_END

#endif
