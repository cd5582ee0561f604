// The backward pass of sparse attention: as attention_backward.cc, over the tiles that meet.
#include <cmath>

#include "kernels/attention/sparse_attention.h"

#define KERNELS_FILE "kernels/attention/sparse_attention_backward.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/sparse_tiles.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// The part of the scratch one worker uses.
struct SparseBackwardSpace {
  float *keys_t, *values_t, *keys, *values, *dk, *dv;  // of one key tile
  float *scores, *dweights, *hook, *places;
  float *q, *dout, *dq, *dots;                                 // of all rows, of each head of the group
  float *tile_q, *tile_dout, *tile_dq, *log_sums, *tile_dots;  // of a tile of queries that is gathered
  int64_t rows;
  static int64_t layout(const AttentionShape& x, const SparseSizes& z, float* base, SparseBackwardSpace* s) {
    const int64_t width = round16(x.dim), all = z.rows * (x.heads / x.heads_kv);
    const int64_t apart = z.asks_once ? 0 : kSparseTile;
    Take take{base};
    SparseBackwardSpace w{};
    w.keys_t = take(kSparseTile * x.dim);
    w.values_t = take(kSparseTile * x.dim);
    for (float** to : {&w.keys, &w.values, &w.dk, &w.dv}) *to = take(kSparseTile * width);
    w.scores = take(kSparseTile * kSparseTile);
    w.dweights = take(kSparseTile * kSparseTile);
    w.hook = take(x.hook_floats());
    w.places = take(x.hook ? kPlaceFloats : 0);
    for (float** to : {&w.q, &w.dout, &w.dq}) *to = take(all * width);
    w.dots = take(all);
    for (float** to : {&w.tile_q, &w.tile_dout, &w.tile_dq}) *to = take(apart * width);
    w.log_sums = take(apart);
    w.tile_dots = take(apart);
    w.rows = z.rows;
    if (s) *s = w;
    return take.at - base;
  }
};

/// The queries of a tile: their rows side by side, and what is known of them.
struct SparseQueryRows {
  const float *q, *dout, *dots, *log_sums;
  float* dq;
  int64_t first_row;  // of the segment, in the batch
};

/// From scores and dP of a row: P~ in place of the scores, dS in place of dP.
HWY_INLINE void soften_row_backward(float* s, float* ds, int64_t padded, float log_sum, float dot, float factor,
                                    float after) {
  const auto shift = splat(-log_sum), by = splat(factor), scale = splat(after), d = splat(dot);
  for (int64_t c = 0; c < padded; c += 16) {
    const auto p = exp2_weights(fma(load(s + c), by, shift));
    store(p, s + c);
    store(p * (load(ds + c) - d) * scale, ds + c);
  }
}

HWY_INLINE void soften_row_backward(const DropoutRow& keep, int64_t column, float* s, float* ds, int64_t padded,
                                    float log_sum, float dot, float factor, float after) {
  const auto shift = splat(-log_sum), by = splat(factor), scale = splat(after), d = splat(dot);
  for (int64_t c = 0; c < padded; c += 16) {
    const auto p = exp2_weights(fma(load(s + c), by, shift));
    store(keep.apply(p, column + c), s + c);
    store(p * (keep.apply(load(ds + c), column + c) - d) * scale, ds + c);
  }
}

/// The same where the kept weights are told by bits.
HWY_INLINE void soften_row_backward(uint64_t kept, float kept_scale, float* s, float* ds, int64_t padded, float log_sum,
                                    float dot, float factor, float after) {
  const auto shift = splat(-log_sum), by = splat(factor), scale = splat(after), d = splat(dot);
  const auto more = splat(kept_scale), none = zero<float>();
  for (int64_t c = 0; c < padded; c += 16, kept >>= 16) {
    const auto p = exp2_weights(fma(load(s + c), by, shift));
    store(where_bit(kept, p * more, none), s + c);
    store(p * (where_bit(kept, load(ds + c) * more, none) - d) * scale, ds + c);
  }
}

/// One pair of tiles of one head: adds to dK and dV of the keys at hand, and to dQ of the queries.
void meet_backward(const AttentionBackward& a, const SparseBackwardSpace& w, const SparsePair& pair, int64_t head,
                   const SparseQueryRows& t) {
  const AttentionShape& x = a.shape;
  const int64_t width = round16(x.dim), rows = pair.queries.count(), height = x.hook ? kSparseTile : kTileRows;
  const float factor = x.hook ? kLog2E : x.scale * kLog2E, after = x.hook ? 1.0f : x.scale;
  const Dropout dropout = dropout_of_head(x, head);
  const int64_t key_columns = round16(pair.keys.count());
  ScoreTile hooked;
  if (x.hook) hooked = pair.hooked(head, t.q, width, w.hook, reinterpret_cast<int32_t*>(w.places));
  for (int64_t row = 0; row < rows; row += height) {
    const int64_t count = std::min(height, rows - row);
    const Mask::Range cols = pair.columns(row);
    const int64_t padded = cols.from < cols.to ? round16(cols.to - cols.from) : 0;
    // what no row of the strip sees: no weight, no gradient
    for (int64_t c = 0; c < key_columns; c += 16) {
      if (c >= cols.from && c < cols.from + padded) continue;
      for (int64_t r = row; r < row + count; ++r) {
        store(zero<float>(), w.scores + r * kSparseTile + c);
        store(zero<float>(), w.dweights + r * kSparseTile + c);
      }
    }
    if (padded == 0) continue;
    float *s = w.scores + row * kSparseTile + cols.from, *ds = w.dweights + row * kSparseTile + cols.from;
    panel_scores(t.q + row * width, width, count, x.dim, w.keys_t, cols, s, kSparseTile);
    panel_scores(t.dout + row * width, width, count, x.dim, w.values_t, cols, ds, kSparseTile);
    if (x.hook) {
      for (int64_t r = 0; r < count; ++r)
        for (int64_t c = 0; c < padded; c += 16)
          store(load(s + r * kSparseTile + c) * splat(x.scale), s + r * kSparseTile + c);
      x.hook->scores(hooked, x.tables, s);
      x.hook->values_backward(hooked, x.tables, t.dout, width, ds);
    }
    pair.hide(s, kSparseTile, row, count, cols);
    if (cols.to % 16 != 0)  // nothing was written beyond
      for (int64_t r = 0; r < count; ++r)
        std::fill(ds + r * kSparseTile + cols.to - cols.from, ds + r * kSparseTile + padded, 0.0f);
    for (int64_t r = 0; r < count; ++r) {
      float *own = s + r * kSparseTile, *down = ds + r * kSparseTile;
      const float log_sum = t.log_sums[row + r], dot = t.dots[row + r];
      const int64_t place = t.first_row + pair.queries.at(row + r);
      if (!dropout.on())
        soften_row_backward(own, down, padded, log_sum, dot, factor, after);
      else if (pair.keys.gathered)
        soften_row_backward(kept_bits(dropout, place, pair.keys) >> cols.from, dropout_scale(dropout.rate), own, down,
                            padded, log_sum, dot, factor, after);
      else
        soften_row_backward(DropoutRow(dropout, place), pair.keys.tile.first + cols.from, own, down, padded, log_sum,
                            dot, factor, after);
    }
    if (x.hook) {
      x.hook->values_gradient(hooked, x.tables, s, t.dout, width);
      x.hook->scores_backward(hooked, x.tables, ds, t.dq, width);
      for (int64_t r = 0; r < count; ++r)
        for (int64_t c = 0; c < padded; c += 16)
          store(load(ds + r * kSparseTile + c) * splat(x.scale), ds + r * kSparseTile + c);
    }
  }
  for (int64_t row = 0; row < rows; row += height) {
    const Mask::Range cols = pair.columns(row);
    if (cols.from < cols.to)
      block_product<false>(
          {std::min(height, rows - row), width, cols.to - cols.from, w.dweights + row * kSparseTile + cols.from,
           kSparseTile, w.keys + cols.from * width, width, t.dq + row * width, width},
          true);
  }
  // dV, then dK: a run of keys at a time, from the strips that see any of it
  constexpr int64_t kRun = 4 * kTileRows;
  for (int64_t key = 0; key < pair.keys.count(); key += kRun) {
    const int64_t keys = std::min(kRun, pair.keys.count() - key);
    int64_t first = 0, last = rows;
    const auto sees = [&](int64_t row) {
      const Mask::Range cols = pair.columns(row);
      return cols.from < key + keys && cols.to > key;
    };
    while (first < last && !sees(first)) first += height;
    while (last > first && !sees((last - 1) / height * height)) last = (last - 1) / height * height;
    if (first >= last) continue;
    block_product<true>({keys, width, last - first, w.scores + first * kSparseTile + key, kSparseTile,
                         t.dout + first * width, width, w.dv + key * width, width},
                        true);
    block_product<true>({keys, width, last - first, w.dweights + first * kSparseTile + key, kSparseTile,
                         t.q + first * width, width, w.dk + key * width, width},
                        true);
  }
}

/// One key-value head of a segment: key tiles outside, the queries that see them inside.
void sparse_unit_backward(const AttentionBackward& a, const SparseBackwardSpace& w, int64_t segment, int64_t head_kv) {
  const AttentionShape& x = a.shape;
  const TilePattern& p = *x.pattern->segments[static_cast<size_t>(segment)];
  const int64_t n = p.length(), width = round16(x.dim), group = x.heads / x.heads_kv;
  const int64_t first = x.queries->begin(segment), column_kv = head_kv * x.dim;
  const float* k = a.k.data + x.keys->begin(segment) * a.k.stride + column_kv;
  const float* v = a.v.data + x.keys->begin(segment) * a.v.stride + column_kv;
  for (int64_t g = 0; g < group; ++g) {
    const int64_t column = (head_kv * group + g) * x.dim, at = g * w.rows;
    float* dout = w.dout + at * width;
    copy_dense(a.q.data + first * a.q.stride + column, a.q.stride, n, x.dim, w.q + at * width);
    copy_dense(a.dout.data + first * a.dout.stride + column, a.dout.stride, n, x.dim, dout);
    std::fill_n(w.dq + at * width, n * width, 0.0f);
    for (int64_t r = 0; r < n; ++r) {
      auto dot = zero<float>();
      const float* out = a.out.data + (first + r) * a.out.stride + column;
      for_packs(x.dim, [&](int64_t d, int64_t count)
                           HWY_ATTR { dot = fma(load_at(out + d, count), load_at(dout + r * width + d, count), dot); });
      w.dots[at + r] = sum(dot);
    }
  }
  for (int64_t tile = 0; tile < std::ssize(p.tiles()); ++tile) {
    const SparseRows keys(p, p.tiles()[static_cast<size_t>(tile)]);
    const TilePattern::Meetings met = p.of_keys(tile);
    if (met.empty() && keys.gathered) continue;
    std::fill_n(w.dk, keys.count() * width, 0.0f);
    std::fill_n(w.dv, keys.count() * width, 0.0f);
    if (!met.empty()) {
      keys.copy(k, a.k.stride, x.dim, w.keys);
      pack_transposed(w.keys, width, keys.count(), x.dim, w.keys_t);
      keys.copy(v, a.v.stride, x.dim, w.values);
      pack_transposed(w.values, width, keys.count(), x.dim, w.values_t);
    }
    for (int64_t g = 0; g < group; ++g) {
      const int64_t head = head_kv * group + g, at = g * w.rows;
      const float* log_sums = a.log_sum + head * x.queries->rows() + first;
      for (const TilePattern::Meeting& m : met) {
        const SparsePair pair(x, p, segment, m);
        const SparseRows& rows = pair.queries;
        const int64_t row = at + rows.tile.first;
        if (!rows.gathered) {
          meet_backward(a, w, pair, head,
                        {w.q + row * width, w.dout + row * width, w.dots + row, log_sums + rows.tile.first,
                         w.dq + row * width, first});
          continue;
        }
        rows.copy(w.q + at * width, width, width, w.tile_q);
        rows.copy(w.dout + at * width, width, width, w.tile_dout);
        rows.copy(w.dq + at * width, width, width, w.tile_dq);
        for (int64_t i = 0; i < rows.count(); ++i) {
          w.log_sums[i] = log_sums[rows.at(i)];
          w.tile_dots[i] = w.dots[at + rows.at(i)];
        }
        meet_backward(a, w, pair, head, {w.tile_q, w.tile_dout, w.tile_dots, w.log_sums, w.tile_dq, first});
        for (int64_t i = 0; i < rows.count(); ++i)
          std::copy_n(w.tile_dq + i * width, width, w.dq + (at + rows.at(i)) * width);
      }
    }
    const int64_t key_row = x.keys->begin(segment);
    if (!keys.gathered) {
      put_rows(w.dk, keys.count(), x.dim, a.dk, key_row + keys.tile.first, column_kv, a.add_dk);
      put_rows(w.dv, keys.count(), x.dim, a.dv, key_row + keys.tile.first, column_kv, a.add_dv);
      continue;
    }
    for (int64_t i = 0; i < keys.count(); ++i) {
      put_rows(w.dk + i * width, 1, x.dim, a.dk, key_row + keys.at(i), column_kv, true);
      put_rows(w.dv + i * width, 1, x.dim, a.dv, key_row + keys.at(i), column_kv, true);
    }
  }
  for (int64_t g = 0; g < group; ++g)
    put_rows(w.dq + g * w.rows * width, n, x.dim, a.dq, first, (head_kv * group + g) * x.dim, a.add_dq);
}

int64_t sparse_backward_floats(const AttentionShape& x) {
  return SparseBackwardSpace::layout(x, SparseSizes(x), nullptr, nullptr);
}

void sparse_attention_backward(const AttentionBackward& a, ThreadPool* pool) {
  const AttentionShape& x = a.shape;
  const SparseSizes sizes(x);
  const int64_t each_worker = SparseBackwardSpace::layout(x, sizes, nullptr, nullptr);
  const int64_t segments = x.queries->count();
  const auto unit = [&](int64_t segment, int64_t head_kv, int worker) {
    SparseBackwardSpace w;
    SparseBackwardSpace::layout(x, sizes, static_cast<float*>(a.scratch) + worker * each_worker, &w);
    sparse_unit_backward(a, w, segment, head_kv);
  };
  // As in attention_backward: what adds to the same numbers of a hook's tables comes in one order.
  const bool gathers = x.hook && x.tables.gather();
  if (gathers && x.hook->heads_apart() && workers_of(pool) > 1)
    parallel_for(pool, x.heads_kv, [&](int64_t head_kv, int worker) {
      for (int64_t segment = 0; segment < segments; ++segment) unit(segment, head_kv, worker);
    });
  else
    parallel_for(gathers ? nullptr : pool, segments * x.heads_kv,
                 [&](int64_t i, int worker) { unit(i / x.heads_kv, i % x.heads_kv, worker); });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(sparse_attention_backward);
KERNEL_EXPORT(sparse_backward_floats);

void sparse_attention_backward(const AttentionBackward& a, ThreadPool* pool) {
  KERNEL_CALL(sparse_attention_backward)(a, pool);
}
int64_t sparse_backward_scratch(const AttentionShape& x) { return HWY_DYNAMIC_DISPATCH(sparse_backward_floats)(x); }

}  // namespace attune::kernels
#endif
