#include "kernels/attention.h"

#include <cmath>

#define KERNELS_FILE "kernels/attention.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention_tiles.h"
#include "kernels/dropout.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// The part of the scratch one worker uses.
struct ForwardSpace {
  float *keys, *values, *scores, *out, *row_sum, *row_max;
  static int64_t layout(const AttentionShape& x, float* base, ForwardSpace* s) {
    const int64_t m = (x.keys->longest + kPanel - 1) / kPanel * kPanel, width = round16(x.dim);
    Take take{base};
    const ForwardSpace out{take(m * x.dim),          take(m * width),       take(kQueryTile * kKeyTile),
                           take(kQueryTile * width), take(kQueryTile * 16), take(kQueryTile)};
    if (s) *s = out;
    return take.at - base;
  }
};

/// One tile of queries of one head: what the steps below hand to each other.
struct QueryTile {
  int64_t segment, head, query, rows;
  int64_t row;         // of the first query in the packed batch
  const float* q;      // its vector
  float* out;          // its result
  const float* value;  // the first key's value, value_stride apart
  int64_t value_stride;
};

/// Scores of the tile against keys [cols.from, cols.to), hooked and hidden, in w.scores.
ScoreTile score(const AttentionForward& a, const ForwardSpace& w, const QueryTile& t, Mask::Range cols) {
  const AttentionShape& x = a.shape;
  const ScoreTile tile{t.segment,
                       t.head,
                       x.queries->length(t.segment),
                       x.keys->length(t.segment),
                       t.query,
                       cols.from,
                       t.rows,
                       cols.to - cols.from,
                       kKeyTile,
                       t.q,
                       a.q.stride,
                       x.dim};
  panel_scores(t.q, a.q.stride, t.rows, x.dim, w.keys, cols, w.scores, kKeyTile);
  if (x.hook) {
    scale_tile(w.scores, t.rows, round16(tile.cols), x.scale);
    x.hook->scores(tile, w.scores);
  }
  hide_tile(x, tile, w.scores);
  return tile;
}

HWY_INLINE float largest(const float* s, int64_t padded) {
  auto most = load(s);
  for (int64_t c = 16; c < padded; c += 16) most = max(most, load(s + c));
  return max_of(most);
}

/// s = exp2(factor (s - highest)), in place; returns its sum in sixteen lanes.
HWY_INLINE Pack<float> weigh(float* s, int64_t padded, float factor, float highest) {
  const auto shift = splat(-highest * factor), by = splat(factor);
  auto total = zero<float>();
  for (int64_t c = 0; c < padded; c += 16) {
    const auto p = exp2_weights(fma(load(s + c), by, shift));
    total = total + p;
    store(p, s + c);
  }
  return total;
}

/// The softmax of a row whose keys all fit in one tile, in place, dropout included. Returns log2 of the sum.
HWY_INLINE float soften_row(const AttentionShape& x, float* s, int64_t padded, const Dropout& dropout, int64_t row) {
  const float factor = x.hook ? kLog2E : x.scale * kLog2E;
  const float row_max = std::max(-1e30f, largest(s, padded));
  const auto total = weigh(s, padded, factor, row_max);
  const float sum_of_row = sum(total);
  if (!(sum_of_row > 0)) return 0;  // sees no key: all weights are 0 already
  if (dropout.on()) {
    const DropoutRow keep(dropout, row);
    const auto each_weight = splat(keep.scale() / sum_of_row);
    for (int64_t c = 0; c < padded; c += 16) store(keep.mask(load(s + c), c) * each_weight, s + c);
  } else {
    const auto each_weight = splat(1.0f / sum_of_row);
    for (int64_t c = 0; c < padded; c += 16) store(load(s + c) * each_weight, s + c);
  }
  return row_max * factor + log2_of(sum_of_row);
}

/// All keys in one tile, as in most sentences: an ordinary softmax, and the result goes straight to its place.
void query_rows_of_one_tile(const AttentionForward& a, const ForwardSpace& w, const QueryTile& t) {
  const AttentionShape& x = a.shape;
  const int64_t m = x.keys->length(t.segment), padded = round16(m), width = round16(x.dim);
  const Dropout dropout = dropout_of_head(x, t.head);
  const ScoreTile tile = score(a, w, t, {0, m});
  float* log_sum = a.log_sum + t.head * x.queries->rows() + t.row;
  for (int64_t r = 0; r < t.rows; ++r) log_sum[r] = soften_row(x, w.scores + r * kKeyTile, padded, dropout, t.row + r);
  const bool in_place = width == x.dim;
  const Rows out = in_place ? Rows{t.out, a.out.stride} : Rows{w.out, width};
  block_product<false>({t.rows, width, m, w.scores, kKeyTile, t.value, t.value_stride, out.data, out.stride}, false);
  if (x.hook) x.hook->values(tile, w.scores, out.data, out.stride);
  if (in_place) return;
  for (int64_t r = 0; r < t.rows; ++r)
    for_packs(x.dim, [&](int64_t d, int64_t count)
                         HWY_ATTR { store_at(load(w.out + r * width + d), t.out + r * a.out.stride + d, count); });
}

/// Turns a tile of scores into weights exp2(factor (s - max)), in place, and brings the running maximum, the running
/// sum (sixteen lanes a row) and the rows of w.out so far to the new maximum.
void soften(const ForwardSpace& w, int64_t rows, int64_t padded, int64_t width, float factor) {
  for (int64_t r = 0; r < rows; ++r) {
    float* s = w.scores + r * kKeyTile;
    const float old_max = w.row_max[r];
    const float new_max = std::max(old_max, largest(s, padded));
    const auto total = weigh(s, padded, factor, new_max);
    float* running = w.row_sum + r * 16;
    if (new_max == old_max) {
      store(load(running) + total, running);
    } else {
      const auto shrink = exp2_weights(splat((old_max - new_max) * factor));
      store(fma(load(running), shrink, total), running);
      for (int64_t d = 0; d < width; d += 16) store(load(w.out + r * width + d) * shrink, w.out + r * width + d);
      w.row_max[r] = new_max;
    }
  }
}

/// Many tiles of keys: the softmax runs along (Milakov and Gimelshein 2018; Dao 2022).
void query_rows(const AttentionForward& a, const ForwardSpace& w, const QueryTile& t) {
  const AttentionShape& x = a.shape;
  const int64_t width = round16(x.dim);
  const Mask::Range seen = keys_of_rows(x, t.segment, t.query, t.rows);
  const float factor = x.hook ? kLog2E : x.scale * kLog2E;
  const Dropout dropout = dropout_of_head(x, t.head);
  std::fill(w.row_max, w.row_max + t.rows, -1e30f);
  std::fill(w.row_sum, w.row_sum + t.rows * 16, 0.0f);
  std::fill(w.out, w.out + t.rows * width, 0.0f);
  for (int64_t key = seen.from / kKeyTile * kKeyTile; key < seen.to; key += kKeyTile) {
    const Mask::Range cols{std::max(key, seen.from / 16 * 16), std::min(seen.to, key + kKeyTile)};
    const ScoreTile tile = score(a, w, t, cols);
    const int64_t padded = round16(tile.cols);
    soften(w, t.rows, padded, width, factor);
    if (dropout.on())
      for (int64_t r = 0; r < t.rows; ++r) {
        const DropoutRow keep(dropout, t.row + r);
        float* s = w.scores + r * kKeyTile;
        for (int64_t c = 0; c < padded; c += 16) store(keep.mask(load(s + c), cols.from + c), s + c);
      }
    block_product<false>({t.rows, width, tile.cols, w.scores, kKeyTile, t.value + cols.from * t.value_stride,
                          t.value_stride, w.out, width},
                         true);
    if (x.hook) x.hook->values(tile, w.scores, w.out, width);
  }
  // divide by the sum, and by the share that dropout keeps
  const float kept = dropout.on() ? dropout_scale(dropout.rate) : 1.0f;
  float* log_sum = a.log_sum + t.head * x.queries->rows() + t.row;
  for (int64_t r = 0; r < t.rows; ++r) {
    const float total = sum(load(w.row_sum + r * 16));
    const auto by = splat(total > 0 ? kept / total : 0.0f);
    for_packs(x.dim, [&](int64_t d, int64_t count)
                         HWY_ATTR { store_at(load(w.out + r * width + d) * by, t.out + r * a.out.stride + d, count); });
    log_sum[r] = total > 0 ? w.row_max[r] * factor + log2_of(total) : 0.0f;
  }
}

void attention_forward(const AttentionForward& a, ThreadPool* pool) {
  const AttentionShape& x = a.shape;
  const int64_t group = x.heads / x.heads_kv, each_worker = ForwardSpace::layout(x, nullptr, nullptr);
  parallel_for(pool, x.queries->count() * x.heads_kv, [&](int64_t unit, int worker) {
    const int64_t segment = unit / x.heads_kv, head_kv = unit % x.heads_kv;
    const int64_t n = x.queries->length(segment), m = x.keys->length(segment), width = round16(x.dim);
    if (n == 0) return;
    ForwardSpace w;
    ForwardSpace::layout(x, static_cast<float*>(a.scratch) + worker * each_worker, &w);
    const int64_t key_row = x.keys->begin(segment), row = x.queries->begin(segment), step = query_tile(x.mask, m);
    pack_transposed(a.k.data + key_row * a.k.stride + head_kv * x.dim, a.k.stride, m, x.dim, w.keys);
    QueryTile t{};
    t.segment = segment;
    t.value = a.v.data + key_row * a.v.stride + head_kv * x.dim;
    t.value_stride = a.v.stride;
    if (m > kShort || width != x.dim) {
      copy_dense(t.value, a.v.stride, m, x.dim, w.values);
      t.value = w.values;
      t.value_stride = width;
    }
    for (t.head = head_kv * group; t.head < (head_kv + 1) * group; ++t.head)
      for (t.query = 0; t.query < n; t.query += step) {
        t.rows = std::min(step, n - t.query);
        t.row = row + t.query;
        t.q = a.q.data + t.row * a.q.stride + t.head * x.dim;
        t.out = a.out.data + t.row * a.out.stride + t.head * x.dim;
        if (m > 0 && m <= kKeyTile)
          query_rows_of_one_tile(a, w, t);
        else
          query_rows(a, w, t);
      }
  });
}

int64_t forward_floats(const AttentionShape& x) { return ForwardSpace::layout(x, nullptr, nullptr); }

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

int64_t attention_backward_floats(const AttentionShape& shape);

KERNEL_EXPORT(attention_forward);
KERNEL_EXPORT(forward_floats);

void attention_forward(const AttentionForward& a, ThreadPool* pool) { KERNEL_CALL(attention_forward)(a, pool); }

int64_t attention_scratch(const AttentionShape& shape, int workers, bool backward) {
  return workers * 4 * (backward ? attention_backward_floats(shape) : HWY_DYNAMIC_DISPATCH(forward_floats)(shape));
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
  for (int64_t i = 0; i < n; ++i) {
    const float* qi = q.data + (x.queries->begin(segment) + i) * q.stride + head * x.dim;
    const Mask::Range seen = x.mask.keys_of(i, n, m, segment);
    float* row = w + i * m;
    std::fill(row, row + m, 0.0f);
    float most = -INFINITY;
    for (int64_t j = seen.from; j < seen.to; ++j) {
      const float* kj = k.data + (x.keys->begin(segment) + j) * k.stride + head_kv * x.dim;
      float s = 0;
      for (int64_t d = 0; d < x.dim; ++d) s += qi[d] * kj[d];
      row[j] = s * x.scale;
    }
    if (x.hook) x.hook->scores({segment, head, n, m, i, 0, 1, m, m, qi, q.stride, x.dim}, row);
    for (int64_t j = seen.from; j < seen.to; ++j) most = std::max(most, row[j]);
    double total = 0;
    for (int64_t j = 0; j < m; ++j) {
      row[j] = j < seen.from || j >= seen.to ? 0.0f : std::exp(row[j] - most);
      total += static_cast<double>(row[j]);
    }
    for (int64_t j = 0; j < m && total > 0; ++j) row[j] = static_cast<float>(static_cast<double>(row[j]) / total);
  }
}

}  // namespace attune::kernels
#endif
