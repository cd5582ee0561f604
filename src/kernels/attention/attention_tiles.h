// What the forward and backward pass of attention share. Include after kernels/tile.h; once per instruction set.
#if defined(ATTUNE_ATTENTION_TILES_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_ATTENTION_TILES_PER_TARGET
#undef ATTUNE_ATTENTION_TILES_PER_TARGET
#else
#define ATTUNE_ATTENTION_TILES_PER_TARGET
#endif

#include "kernels/attention/attention.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

// Tiles are the same on every machine: where the softmax is rescaled is part of the result's bits. Borders of key tiles
// are counted from the sequence's first key, so a result does not depend on batch mates.
inline constexpr int64_t kKeyTile = 128;
inline constexpr int64_t kQueryTile = 96;        // multiples of 6 rows
inline constexpr int64_t kNarrowQueryTile = 48;  // where a band or the diagonal cuts most tiles

inline constexpr int64_t kOnePass = 512;  // keys up to which a strip's whole softmax stays in L1
inline constexpr int64_t kShort = 48;  // sequences up to this are read in place: their rows do not crowd out each other
inline constexpr float kLog2E = 1.44269504f;

HWY_INLINE int64_t round16(int64_t n) { return (n + 15) / 16 * 16; }

/// Cuts scratch into pieces of whole cache lines.
struct Take {
  float* at;
  HWY_INLINE float* operator()(int64_t floats) {
    float* p = at;
    at += round16(floats);
    return p;
  }
};

HWY_INLINE bool narrow(const Mask& mask) {
  return mask.before >= 0 && mask.before + std::max<int64_t>(mask.after, 0) < 4 * kKeyTile;
}

/// Few rows at a time when the mask leaves a narrow strip: less of each tile is computed in vain.
HWY_INLINE int64_t query_tile(const Mask& mask, int64_t keys) {
  return narrow(mask) || (mask.causal && keys <= 4 * kKeyTile) ? kNarrowQueryTile : kQueryTile;
}

/// Whether the mask leaves each query a strip of bounded width.
HWY_INLINE bool banded(const Mask& mask) {
  return mask.before >= 0 && (mask.causal || mask.after >= 0) && !mask.prefix;
}

/// How many tiles of `tile` rows one must hold at a time: all of `rows`, or for a band those that `reach` more rows
/// touch. They lie in a ring: the i-th at place i modulo this number.
HWY_INLINE int64_t ring_tiles(const Mask& mask, int64_t rows, int64_t tile, int64_t reach) {
  const int64_t all = (rows + tile - 1) / tile;
  if (!banded(mask)) return all;
  return std::min(all, (mask.before + std::max<int64_t>(mask.after, 0) + reach) / tile + 2);
}

/// How many key-value heads are taken together, tile by tile. In a band little is computed with each row, and the wider
/// the columns read at a time, the better the hardware sees what comes next; but what is held of each head must stay in
/// the cache, and workers must find enough to do. Heads don't know of each other, but a hook's gradients do.
inline constexpr int64_t kMostTogether = 4;
HWY_INLINE int64_t heads_together(const AttentionShape& x, int workers) {
  if (!banded(x.mask) || !narrow(x.mask) || x.hook) return 1;
  int64_t together = std::min(kMostTogether, x.heads_kv);
  while (together > 1 && workers > 1 && x.queries->count() * x.heads_kv < 4 * workers * together) together /= 2;
  return together;
}

/// What one call works on: a segment and a few key-value heads.
struct HeadUnit {
  int64_t segment, from, to;
  static int64_t parts(const AttentionShape& x, int64_t together) { return (x.heads_kv + together - 1) / together; }
  HeadUnit(const AttentionShape& x, int64_t together, int64_t unit)
      : segment(unit / parts(x, together)),
        from(unit % parts(x, together) * together),
        to(std::min(from + together, x.heads_kv)) {}
};

/// Columns [0, dim) of `rows` rows, transposed into panels of kPanel rows each: [panel][dim][kPanel].
HWY_INLINE void pack_transposed(const float* from, int64_t stride, int64_t rows, int64_t dim, float* to) {
  for (int64_t r = 0; r < rows; r += kPanel, to += dim * kPanel)
    transpose(from + r * stride, stride, std::min<int64_t>(kPanel, rows - r), dim, to, kPanel);
}

/// Rows side by side, padded with zeros to a multiple of 16 columns.
HWY_INLINE void copy_dense(const float* from, int64_t stride, int64_t rows, int64_t dim, float* to) {
  const int64_t padded = round16(dim);
  for (int64_t r = 0; r < rows; ++r, from += stride, to += padded)
    for_packs(dim, [&](int64_t j, int64_t count) HWY_ATTR { store(load_at(from + j, count), to + j); });
}

/// Rows of scratch, as copy_dense leaves them, to their place in a matrix that may be absent.
HWY_INLINE void put_rows(const float* from, int64_t rows, int64_t dim, Rows to, int64_t row, int64_t column, bool add) {
  if (!to.data) return;
  const int64_t width = round16(dim);
  for (int64_t r = 0; r < rows; ++r) {
    float* out = to.data + (row + r) * to.stride + column;
    for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR { put_at(load(from + r * width + d), out + d, count, add); });
  }
}

/// Rows that will be read or written soon, asked for a few lines at a time between products: asked for all at once they
/// would hold up the work at hand.
class Ahead {
 public:
  /// Forgets what is left. All that is added now is asked for in so many calls of some(), about.
  HWY_INLINE void start(int64_t calls) {
    calls_ = std::max<int64_t>(calls, 1);
    count_ = at_ = 0;
    row_ = column_ = lines_ = each_ = 0;
  }
  /// `width` columns of rows [rows.from, rows.to). Nowhere (data == nullptr): none.
  HWY_INLINE void add(const Rows& x, Mask::Range rows, int64_t width) {
    if (!x.data || rows.from >= rows.to) return;
    parts_[count_++] = {x.data + rows.from * x.stride, x.stride, rows.to - rows.from, width};
    lines_ += (rows.to - rows.from) * ((width + 15) / 16);
    each_ = (lines_ + calls_ - 1) / calls_;
  }
  HWY_INLINE void some() {
    for (int64_t left = each_; left > 0 && at_ < count_; --left) {
      const Part& x = parts_[at_];
      __builtin_prefetch(x.data + row_ * x.stride + column_, 0, 2);
      if ((column_ += 16) < x.width) continue;
      column_ = 0;
      if (++row_ < x.rows) continue;
      row_ = 0;
      ++at_;
    }
  }

 private:
  struct Part {
    const float* data;
    int64_t stride, rows, width;
  };
  Part parts_[8];
  int count_ = 0, at_ = 0;
  int64_t calls_ = 1, row_ = 0, column_ = 0, lines_ = 0, each_ = 0;
};

/// Asks for columns [column, column + width) of rows that will be needed soon. They lie far apart, out of sight of the
/// hardware's own prefetching.
HWY_INLINE void fetch(const Rows& x, int64_t row, Mask::Range rows, int64_t column, int64_t width) {
  for (int64_t r = std::max<int64_t>(rows.from, 0); r < rows.to; ++r)
    for (int64_t d = 0; d < width; d += 16) __builtin_prefetch(x.data + (row + r) * x.stride + column + d, 0, 2);
}

/// s[r, c - from] = sum over d of a[r, d] panel[d, c] for columns [from, to) of a packed transposed matrix; `from` is a
/// multiple of 16. Writes whole registers.
HWY_INLINE void panel_scores(const float* a, int64_t a_stride, int64_t rows, int64_t dim, const float* panels,
                             Mask::Range cols, float* s, int64_t s_stride) {
  for (int64_t c = cols.from; c < cols.to;) {
    const int64_t inside = c % kPanel;
    const int64_t width = std::min(kPanel - inside, cols.to - c);
    block_product<false>({rows, width, dim, a, a_stride, panels + c / kPanel * kPanel * dim + inside, kPanel,
                          s + (c - cols.from), s_stride},
                         false);
    c += width;
  }
}

/// 2^x for x at most a little above 0, or minus infinity: exp2 without the upper bound. Not-a-number stays.
HWY_INLINE Pack<float> exp2_weights(const Pack<float>& x) {
  return each([&](int i) HWY_ATTR {
    const F f;
    const auto magic = hn::Set(f, kRounder);
    const auto bounded = max_reg(hn::Set(f, -126.0f), x.r[i]);
    const auto rounded = hn::Add(bounded, magic);
    const auto y = exp2_part(hn::Sub(bounded, hn::Sub(rounded, magic)), rounded);
    return hn::IfThenZeroElse(hn::Lt(x.r[i], hn::Set(f, -126.0f)), y);
  });
}

/// Sets the columns of a row that its query does not see, in [0, padded), to minus infinity.
HWY_INLINE void hide(float* row, Mask::Range seen, int64_t padded) {
  const auto nothing = splat(-INFINITY);
  for (int64_t c = 0; c < seen.from; c += 16)
    store(c + 16 <= seen.from ? nothing : first_n(nothing, seen.from - c, load(row + c)), row + c);
  for (int64_t c = seen.to / 16 * 16; c < padded; c += 16)
    store(c >= seen.to ? nothing : first_n(load(row + c), seen.to - c, nothing), row + c);
}

/// Hides what the queries of a tile do not see. Most tiles lie inside and need nothing.
HWY_INLINE void hide_tile(const AttentionShape& x, const ScoreTile& t, float* scores) {
  const int64_t padded = round16(t.cols);
  const bool everything = !x.mask.causal && x.mask.before < 0 && x.mask.after < 0;
  if (everything && t.cols == padded) return;
  Mask::Range seen{0, t.cols};
  for (int64_t r = 0; r < t.rows; ++r) {
    if (!everything) {
      const Mask::Range keys = x.mask.keys_of(t.query + r, t.queries, t.keys, t.segment);
      seen = {std::clamp<int64_t>(keys.from - t.key, 0, t.cols), std::clamp<int64_t>(keys.to - t.key, 0, t.cols)};
    }
    if (seen.from > 0 || seen.to < padded) hide(scores + r * t.stride, seen, padded);
  }
}

HWY_INLINE void scale_tile(float* scores, int64_t rows, int64_t padded, float by) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < padded; c += 16)
      store(load(scores + r * kKeyTile + c) * splat(by), scores + r * kKeyTile + c);
}

/// The keys any of a run of queries sees. Bounds never fall from one query to the next.
HWY_INLINE Mask::Range keys_of_rows(const AttentionShape& x, int64_t segment, int64_t query, int64_t rows) {
  const int64_t n = x.queries->length(segment), m = x.keys->length(segment);
  return {x.mask.keys_of(query, n, m, segment).from, x.mask.keys_of(query + rows - 1, n, m, segment).to};
}

/// Of those, the ones in the key tile that begins at `key`; from a multiple of 16.
HWY_INLINE Mask::Range keys_in_tile(const AttentionShape& x, int64_t segment, int64_t query, int64_t rows,
                                    int64_t key) {
  const Mask::Range seen = keys_of_rows(x, segment, query, rows);
  return {std::max(key, seen.from / 16 * 16), std::min(seen.to, key + kKeyTile)};
}

inline constexpr float kLowest = -1e30f;  // a maximum to start from that can be subtracted from -inf

HWY_INLINE float max_of_row(const float* s, int64_t padded) {
  auto most = load(s);
  for (int64_t c = 16; c < padded; c += 16) most = max(most, load(s + c));
  return max_of(most);
}

/// Scores become exp2(factor (s - row_max)), in place. Returns their sum in sixteen lanes.
HWY_INLINE Pack<float> exponentials(float* s, int64_t padded, float row_max, float factor) {
  const auto shift = splat(-row_max * factor), by = splat(factor);
  auto total = zero<float>();
  for (int64_t c = 0; c < padded; c += 16) {
    const auto p = exp2_weights(fma(load(s + c), by, shift));
    total = total + p;
    store(p, s + c);
  }
  return total;
}

/// How far a softmax over many tiles has come: of each row the largest score so far, the sum of exponentials in sixteen
/// lanes, and the weighted sum of values, rows `width` apart.
struct RunningRows {
  float *max, *lanes, *out;
  int64_t width;
  HWY_INLINE void begin(int64_t rows) const {
    std::fill(max, max + rows, kLowest);
    std::fill(lanes, lanes + rows * 16, 0.0f);
    std::fill(out, out + rows * width, 0.0f);
  }
};

/// Turns the r-th row of scores into weights, in place, and brings what runs along to the new maximum.
HWY_INLINE void soften(const RunningRows& w, int64_t r, float* s, int64_t padded, float factor) {
  const float old_max = w.max[r];
  const float new_max = std::max(old_max, max_of_row(s, padded));
  const auto total = exponentials(s, padded, new_max, factor);
  float* running = w.lanes + r * 16;
  if (new_max == old_max) {
    store(load(running) + total, running);
  } else {
    const auto shrink = exp2_weights(splat((old_max - new_max) * factor));
    store(fma(load(running), shrink, total), running);
    for (int64_t d = 0; d < w.width; d += 16) store(load(w.out + r * w.width + d) * shrink, w.out + r * w.width + d);
    w.max[r] = new_max;
  }
}

/// log2 of each row's sum of exponentials, sixteen rows at a time; 0 for a row that sees no key.
HWY_INLINE void write_log_sums(const float* row_max, const float* row_sum, int64_t rows, float factor, float* log_sum) {
  for_packs(rows, [&](int64_t r, int64_t count) HWY_ATTR {
    const auto total = load(row_sum + r);
    const auto value = fma(load(row_max + r), splat(factor), log2(total));
    store_at(where_greater(total, zero<float>(), value, zero<float>()), log_sum + r, count);
  });
}

/// At the end: divides by the sums, which it leaves in `row_sum`, and by the share that dropout keeps.
HWY_INLINE void finish_rows(const RunningRows& w, int64_t rows, int64_t dim, float kept, const Rows& to, float factor,
                            float* row_sum, float* log_sum) {
  for (int64_t r = 0; r < rows; ++r) {
    const float total = sum(load(w.lanes + r * 16));
    const auto by = splat(total > 0 ? kept / total : 0.0f);
    for_packs(dim, [&](int64_t d, int64_t count)
                       HWY_ATTR { store_at(load(w.out + r * w.width + d) * by, to.data + r * to.stride + d, count); });
    row_sum[r] = total;
  }
  write_log_sums(w.max, row_sum, rows, factor, log_sum);
}

/// Rows that are taken from scores to weights in one go: a register tile's, or all when a hook wants to see whole
/// tiles.
HWY_INLINE int64_t strip_height(const AttentionShape& x) { return x.hook ? kQueryTile : kTileRows; }

/// The first tile of queries, `step` rows each, that can see keys from `key` on.
HWY_INLINE int64_t first_query_tile(const AttentionShape& x, int64_t segment, int64_t key, int64_t step) {
  const int64_t n = x.queries->length(segment), m = x.keys->length(segment);
  if (!x.mask.causal && x.mask.after < 0) return 0;
  int64_t low = 0, high = n;  // bounds rise with the query: search for the first that sees past `key`
  while (low < high) {
    const int64_t mid = (low + high) / 2;
    if (x.mask.keys_of(mid, n, m, segment).to > key)
      high = mid;
    else
      low = mid + 1;
  }
  return low / step * step;
}

/// The key of the dropout mask for one query row and head.
HWY_INLINE Dropout dropout_of_head(const AttentionShape& x, int64_t head) {
  Dropout d = x.dropout;
  d.key = mix(d.key, static_cast<uint64_t>(head));
  return d;
}

KERNELS_END

#endif
