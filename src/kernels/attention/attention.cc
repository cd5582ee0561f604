#include "kernels/attention/attention.h"

#include <cmath>
#include <optional>

#include "base/aligned.h"
#include "kernels/attention/sparse_attention.h"

#define KERNELS_FILE "kernels/attention/attention.cc"
#include "base/portable_math.h"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/attention_tiles.h"
#include "kernels/dropout.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// The part of the scratch one worker uses.
struct ForwardSpace {
  float *keys, *values, *scores, *out, *row_lanes, *row_max, *row_sum;  // lanes: sixteen partial sums a row
  float* hook;
  int64_t held;  // keys and values of each of the heads that are taken together
  static int64_t layout(const AttentionShape& x, int64_t together, float* base, ForwardSpace* s) {
    const int64_t m = ring_tiles(x.mask, x.keys->longest, kKeyTile, kQueryTile) * kKeyTile, width = round16(x.dim);
    Take take{base};
    const ForwardSpace out{take(together * m * x.dim), take(together * m * width), take(kQueryTile * kKeyTile),
                           take(kQueryTile * width),   take(kQueryTile * 16),      take(kQueryTile),
                           take(kQueryTile),           take(x.hook_floats()),      m};
    if (s) *s = out;
    return take.at - base;
  }
};

/// The keys and values of one segment and head, packed tile by tile as queries come to need them.
class KeyWindow {
 public:
  /// The i-th of the heads that are taken together.
  KeyWindow(const AttentionForward& a, const ForwardSpace& w, int64_t segment, int64_t head_kv, int64_t i)
      : x_(a.shape),
        keys_(w.keys + i * w.held * x_.dim),
        values_(w.values + i * w.held * round16(x_.dim)),
        m_(x_.keys->length(segment)),
        width_(round16(x_.dim)),
        tiles_(std::max<int64_t>(1, ring_tiles(x_.mask, m_, kKeyTile, kQueryTile))),
        in_place_(m_ <= kShort && width_ == x_.dim) {
    const int64_t row = x_.keys->begin(segment), column = head_kv * x_.dim;
    k_ = {a.k.data + row * a.k.stride + column, a.k.stride};
    v_ = {a.v.data + row * a.v.stride + column, a.v.stride};
  }
  /// Packs what is not there yet of these keys. Ranges never go back.
  void need(Mask::Range keys) {
    for (next_ = std::max(next_, keys.from / kKeyTile); next_ * kKeyTile < keys.to; ++next_) {
      const int64_t key = next_ * kKeyTile, count = std::min(kKeyTile, m_ - key), slot = next_ % tiles_;
      pack_transposed(k_.data + key * k_.stride, k_.stride, count, x_.dim, keys_ + slot * kKeyTile * x_.dim);
      if (!in_place_)
        copy_dense(v_.data + key * v_.stride, v_.stride, count, x_.dim, values_ + slot * kKeyTile * width_);
    }
  }
  /// The transposed panels of the tile that `key` is in.
  const float* panels(int64_t key) const { return keys_ + key / kKeyTile % tiles_ * kKeyTile * x_.dim; }
  /// Values from `key` on, to the end of its tile.
  Rows values(int64_t key) const {
    if (in_place_) return {v_.data + key * v_.stride, v_.stride};
    return {values_ + (key / kKeyTile % tiles_ * kKeyTile + key % kKeyTile) * width_, width_};
  }

 private:
  const AttentionShape& x_;
  float *keys_, *values_;
  int64_t m_, width_, tiles_;
  bool in_place_;
  Rows k_, v_;
  int64_t next_ = 0;
};

/// One tile of queries of one head: what the steps below hand to each other.
struct QueryTile {
  const KeyWindow& keys;
  int64_t segment, head, query, rows;
  int64_t row;     // of the first query in the packed batch
  const float* q;  // its vector
  float* out;      // its result
  float* hook;     // the hook's scratch
};

/// Rows [strip, strip + rows) of a tile of queries against keys [cols.from, cols.to) of one key tile: scores, hooked
/// and hidden, at s, rows `stride` apart.
ScoreTile score(const AttentionForward& a, const QueryTile& t, Mask::Range strip, Mask::Range cols, float* s,
                int64_t stride) {
  const AttentionShape& x = a.shape;
  ScoreTile tile{};
  tile.segment = t.segment;
  tile.head = t.head;
  tile.queries = x.queries->length(t.segment);
  tile.keys = x.keys->length(t.segment);
  tile.query = t.query + strip.from;
  tile.key = cols.from;
  tile.rows = strip.to - strip.from;
  tile.cols = cols.to - cols.from;
  tile.stride = stride;
  tile.q = t.q + strip.from * a.q.stride;
  tile.q_stride = a.q.stride;
  tile.dim = x.dim;
  tile.scale = x.scale;
  tile.scratch = t.hook;
  const int64_t key0 = cols.from / kKeyTile * kKeyTile;
  panel_scores(tile.q, a.q.stride, tile.rows, x.dim, t.keys.panels(key0), {cols.from - key0, cols.to - key0}, s,
               stride);
  if (x.hook) {
    scale_tile(s, tile.rows, round16(tile.cols), x.scale);
    tile = x.hooked(tile);
    x.hook->scores(tile, x.tables, s);
  }
  hide_tile(x, tile, s);
  return tile;
}

/// Which of a row's weights are dropped.
struct Dropping {
  const Dropout& dropout;
  int64_t row, column;
};

/// The softmax of the r-th row, all of it at hand, in place, dropout included. Leaves its maximum and sum.
HWY_INLINE void soften_row(const ForwardSpace& w, int64_t r, float* s, int64_t padded, float factor,
                           const Dropping& d) {
  const float row_max = std::max(kLowest, max_of_row(s, padded));
  const float sum_of_row = sum(exponentials(s, padded, row_max, factor));
  w.row_max[r] = row_max;
  w.row_sum[r] = sum_of_row;
  if (!(sum_of_row > 0)) return;  // sees no key: all weights are 0 already
  if (d.dropout.on()) {
    const DropoutRow keep(d.dropout, d.row);
    const auto each_weight = splat(keep.scale() / sum_of_row);
    for (int64_t c = 0; c < padded; c += 16) store(keep.mask(load(s + c), d.column + c) * each_weight, s + c);
  } else {
    const auto each_weight = splat(1.0f / sum_of_row);
    for (int64_t c = 0; c < padded; c += 16) store(load(s + c) * each_weight, s + c);
  }
}

/// Whether every strip of rows sees so few keys that its scores fit in L1: then an ordinary softmax does. A matter of
/// the sequence's own length and the mask alone.
bool in_one_pass(const AttentionShape& x, int64_t keys) {
  if (x.hook) return keys <= kKeyTile;
  const int64_t window = banded(x.mask) ? x.mask.before + std::max<int64_t>(x.mask.after, 0) + kTileRows + 16 : keys;
  return std::min(keys, window) <= kOnePass;
}

/// Few keys, as in most sentences and in a band: an ordinary softmax, and the result goes straight to its place.
void query_rows_in_one_pass(const AttentionForward& a, const ForwardSpace& w, const QueryTile& t) {
  const AttentionShape& x = a.shape;
  const int64_t width = round16(x.dim), height = strip_height(x), stride = x.hook ? kKeyTile : kOnePass + 16;
  const Dropout dropout = dropout_of_head(x, t.head);
  const bool in_place = width == x.dim;
  const Rows out = in_place ? Rows{t.out, a.out.stride} : Rows{w.out, width};
  const float factor = x.hook ? kLog2E : x.scale * kLog2E;
  float* s = w.scores;
  for (int64_t strip = 0; strip < t.rows; strip += height) {
    const int64_t rows = std::min(height, t.rows - strip);
    const Mask::Range seen = keys_of_rows(x, t.segment, t.query + strip, rows);
    const int64_t from = seen.from / 16 * 16, count = seen.from < seen.to ? seen.to - from : 0;
    float* to = out.data + strip * out.stride;
    if (count == 0) {
      std::fill_n(w.row_sum + strip, rows, 0.0f);
      for (int64_t r = 0; r < rows; ++r) std::fill_n(to + r * out.stride, width, 0.0f);
      continue;
    }
    ScoreTile tile;
    for (int64_t key = from; key < seen.to; key = (key / kKeyTile + 1) * kKeyTile)
      tile = score(a, t, {strip, strip + rows}, {key, std::min(seen.to, (key / kKeyTile + 1) * kKeyTile)},
                   s + key - from, stride);
    for (int64_t r = 0; r < rows; ++r)
      soften_row(w, strip + r, s + r * stride, round16(count), factor, {dropout, t.row + strip + r, from});
    for (int64_t key = from; key < seen.to; key = (key / kKeyTile + 1) * kKeyTile) {
      const Rows v = t.keys.values(key);
      const int64_t keys = std::min(seen.to, (key / kKeyTile + 1) * kKeyTile) - key;
      block_product<false>({rows, width, keys, s + key - from, stride, v.data, v.stride, to, out.stride}, key > from);
    }
    if (x.hook) x.hook->values(tile, x.tables, s, to, out.stride);
  }
  write_log_sums(w.row_max, w.row_sum, t.rows, factor, a.log_sum + t.head * x.queries->rows() + t.row);
  if (in_place) return;
  for (int64_t r = 0; r < t.rows; ++r)
    for_packs(x.dim, [&](int64_t d, int64_t count)
                         HWY_ATTR { store_at(load(w.out + r * width + d), t.out + r * a.out.stride + d, count); });
}

/// Many tiles of keys: the softmax runs along (Milakov and Gimelshein 2018; Dao et al. 2022). Rows go in strips of one
/// register tile: a strip's scores become weights while they are in L1, and each strip computes only what it sees.
void query_rows(const AttentionForward& a, const ForwardSpace& w, const QueryTile& t) {
  const AttentionShape& x = a.shape;
  const int64_t width = round16(x.dim), height = strip_height(x);
  const Mask::Range seen = keys_of_rows(x, t.segment, t.query, t.rows);
  const float factor = x.hook ? kLog2E : x.scale * kLog2E;
  const Dropout dropout = dropout_of_head(x, t.head);
  const RunningRows running{w.row_max, w.row_lanes, w.out, width};
  running.begin(t.rows);
  for (int64_t key = seen.from / kKeyTile * kKeyTile; key < seen.to; key += kKeyTile) {
    Mask::Range cols[kQueryTile / kTileRows];
    ScoreTile hooked{};  // with a hook there is but one strip
    for (int64_t strip = 0, i = 0; strip < t.rows; strip += height, ++i) {
      const int64_t rows = std::min(height, t.rows - strip);
      cols[i] = keys_in_tile(x, t.segment, t.query + strip, rows, key);
      if (cols[i].from >= cols[i].to) continue;
      float* s = w.scores + strip * kKeyTile + cols[i].from - key;
      const int64_t padded = round16(cols[i].to - cols[i].from);
      const ScoreTile tile = score(a, t, {strip, strip + rows}, cols[i], s, kKeyTile);
      if (x.hook) hooked = tile;
      for (int64_t r = 0; r < rows; ++r) {
        soften(running, strip + r, s + r * kKeyTile, padded, factor);
        if (!dropout.on()) continue;
        const DropoutRow keep(dropout, t.row + strip + r);
        for (int64_t c = 0; c < padded; c += 16)
          store(keep.mask(load(s + r * kKeyTile + c), cols[i].from + c), s + r * kKeyTile + c);
      }
    }
    for (int64_t strip = 0, i = 0; strip < t.rows; strip += height, ++i) {
      const int64_t rows = std::min(height, t.rows - strip), count = cols[i].to - cols[i].from;
      if (count <= 0) continue;
      const float* s = w.scores + strip * kKeyTile + cols[i].from - key;
      float* out = w.out + strip * width;
      const Rows v = t.keys.values(cols[i].from);
      block_product<false>({rows, width, count, s, kKeyTile, v.data, v.stride, out, width}, true);
      if (x.hook) x.hook->values(hooked, x.tables, s, out, width);
    }
  }
  finish_rows(running, t.rows, x.dim, dropout.on() ? dropout_scale(dropout.rate) : 1.0f, {t.out, a.out.stride}, factor,
              w.row_sum, a.log_sum + t.head * x.queries->rows() + t.row);
}

/// One tile of queries of one key-value head.
void queries_forward(const AttentionForward& a, const ForwardSpace& w, KeyWindow& keys, QueryTile t, int64_t head_kv) {
  const AttentionShape& x = a.shape;
  const int64_t group = x.heads / x.heads_kv;
  keys.need(keys_of_rows(x, t.segment, t.query, t.rows));
  const bool one_pass = in_one_pass(x, x.keys->length(t.segment));
  for (t.head = head_kv * group; t.head < (head_kv + 1) * group; ++t.head) {
    t.q = a.q.data + t.row * a.q.stride + t.head * x.dim;
    t.out = a.out.data + t.row * a.out.stride + t.head * x.dim;
    if (one_pass)
      query_rows_in_one_pass(a, w, t);
    else
      query_rows(a, w, t);
  }
}

void attention_forward(const AttentionForward& a, ThreadPool* pool) {
  const AttentionShape& x = a.shape;
  const int64_t together = heads_together(x, workers_of(pool));
  const int64_t each_worker = ForwardSpace::layout(x, together, nullptr, nullptr);
  parallel_for(pool, x.queries->count() * HeadUnit::parts(x, together), [&](int64_t unit, int worker) {
    const HeadUnit u(x, together, unit);
    const int64_t n = x.queries->length(u.segment), step = query_tile(x.mask, x.keys->length(u.segment));
    ForwardSpace w;
    ForwardSpace::layout(x, together, static_cast<float*>(a.scratch) + worker * each_worker, &w);
    std::optional<KeyWindow> keys[kMostTogether];
    for (int64_t h = u.from; h < u.to; ++h) keys[h - u.from].emplace(a, w, u.segment, h, h - u.from);
    for (int64_t query = 0; query < n; query += step)
      for (int64_t h = u.from; h < u.to; ++h)
        queries_forward(a, w, *keys[h - u.from],
                        {*keys[h - u.from], u.segment, 0, query, std::min(step, n - query),
                         x.queries->begin(u.segment) + query, nullptr, nullptr, w.hook},
                        h);
  });
}

int64_t forward_floats(const AttentionShape& x, int workers) {
  return ForwardSpace::layout(x, heads_together(x, workers), nullptr, nullptr);
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

int64_t attention_backward_floats(const AttentionShape& shape, int workers);

KERNEL_EXPORT(attention_forward);
KERNEL_EXPORT(forward_floats);

void attention_forward(const AttentionForward& a, ThreadPool* pool) {
  if (a.shape.pattern) return sparse_attention_forward(a, pool);
  KERNEL_CALL(attention_forward)(a, pool);
}

int64_t attention_scratch(const AttentionShape& shape, int workers, bool backward) {
  if (shape.pattern) return sparse_attention_scratch(shape, workers, backward);
  return workers * 4 *
         (backward ? attention_backward_floats(shape, workers) : HWY_DYNAMIC_DISPATCH(forward_floats)(shape, workers));
}

double pairs_seen(const Mask& mask, const Segments& segments) {
  double pairs = 0;
  for (int64_t s = 0; s < segments.count(); ++s)
    for (int64_t i = 0, n = segments.length(s); i < n; ++i) {
      const Mask::Range seen = mask.keys_of(i, n, n, s);
      pairs += static_cast<double>(seen.to - seen.from);
    }
  return pairs;
}

void attention_weights(const AttentionShape& x, Rows q, Rows k, int64_t segment, int64_t head, float* w) {
  const int64_t n = x.queries->length(segment), m = x.keys->length(segment), head_kv = head / (x.heads / x.heads_kv);
  Aligned<float> scratch(x.hook_floats());
  std::vector<int32_t> keys;
  for (int64_t i = 0; i < n; ++i) {
    const float* qi = q.data + (x.queries->begin(segment) + i) * q.stride + head * x.dim;
    const Mask::Range range = x.pattern ? Mask::Range{0, m} : x.mask.keys_of(i, n, m, segment);
    if (x.pattern) x.pattern->keys_of(segment, i, keys);
    const auto seen = [&](int64_t j) {
      return x.pattern ? std::binary_search(keys.begin(), keys.end(), j) : j >= range.from && j < range.to;
    };
    float* row = w + i * m;
    std::fill(row, row + m, 0.0f);
    float most = -INFINITY;
    for (int64_t j = range.from; j < range.to; ++j) {
      const float* kj = k.data + (x.keys->begin(segment) + j) * k.stride + head_kv * x.dim;
      float s = 0;
      for (int64_t d = 0; d < x.dim; ++d) s += qi[d] * kj[d];
      row[j] = s * x.scale;
    }
    if (x.hook)
      x.hook->scores(x.hooked({segment, head, n, m, i, 0, 1, m, m, qi, q.stride, x.dim, x.scale, scratch.data()}),
                     x.tables, row);
    for (int64_t j = range.from; j < range.to; ++j)
      if (seen(j)) most = std::max(most, row[j]);
    double total = 0;
    for (int64_t j = 0; j < m; ++j) {
      row[j] = seen(j) ? static_cast<float>(portable::exp(row[j] - most)) : 0.0f;
      total += static_cast<double>(row[j]);
    }
    for (int64_t j = 0; j < m && total > 0; ++j) row[j] = static_cast<float>(static_cast<double>(row[j]) / total);
  }
}

}  // namespace attune::kernels
#endif
