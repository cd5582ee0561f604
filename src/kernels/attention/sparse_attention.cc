#include "kernels/attention/sparse_attention.h"

#include <cmath>

#define KERNELS_FILE "kernels/attention/sparse_attention.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/sparse_tiles.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// The part of the scratch one worker uses.
struct SparseForwardSpace {
  float *keys, *values;  // of each tile: transposed panels, and dense rows
  float* packed;         // of each tile: whether they are there
  float *scores, *q, *sums, *hook, *places;
  float *max, *lanes, *out;                 // what runs along: of all rows, or of one tile
  float *tile_max, *tile_lanes, *tile_out;  // of a tile that is gathered
  static int64_t layout(const AttentionShape& x, const SparseSizes& z, float* base, SparseForwardSpace* s) {
    const int64_t width = round16(x.dim), rows = z.asks_once ? kSparseTile : z.rows,
                  apart = z.asks_once ? 0 : kSparseTile;
    Take take{base};
    SparseForwardSpace w{};
    w.keys = take(z.tiles * kSparseTile * x.dim);
    w.values = take(z.tiles * kSparseTile * width);
    w.packed = take(z.tiles);
    w.scores = take(kSparseTile * kSparseTile);
    w.q = take(kSparseTile * width);
    w.sums = take(kSparseTile);
    w.hook = take(x.hook_floats());
    w.places = take(x.hook ? kPlaceFloats : 0);
    w.max = take(rows);
    w.lanes = take(rows * 16);
    w.out = take(rows * width);
    w.tile_max = take(apart);
    w.tile_lanes = take(apart * 16);
    w.tile_out = take(apart * width);
    if (s) *s = w;
    return take.at - base;
  }
};

/// One tile of queries of one head.
struct SparseQueries {
  int64_t segment, head;
  const float* q;
  int64_t q_stride;
  RunningRows running;
};

/// One tile of keys more for the softmax of a tile of queries.
HWY_INLINE void meet_forward(const AttentionForward& a, const SparseForwardSpace& w, const SparsePair& pair,
                             const SparseQueries& t, int64_t key_tile) {
  const AttentionShape& x = a.shape;
  const int64_t width = round16(x.dim), rows = pair.queries.count(), height = x.hook ? kSparseTile : kTileRows;
  const float factor = x.hook ? kLog2E : x.scale * kLog2E;
  const float* panels = w.keys + key_tile * kSparseTile * x.dim;
  const float* values = w.values + key_tile * kSparseTile * width;
  const Dropout dropout = dropout_of_head(x, t.head);
  const int64_t first_row = x.queries->begin(t.segment);
  ScoreTile hooked;
  if (x.hook) hooked = pair.hooked(t.head, t.q, t.q_stride, w.hook, reinterpret_cast<int32_t*>(w.places));
  for (int64_t row = 0; row < rows; row += height) {
    const int64_t count = std::min(height, rows - row);
    const Mask::Range cols = pair.columns(row);
    if (cols.from >= cols.to) continue;
    const int64_t padded = round16(cols.to - cols.from);
    float* s = w.scores + row * kSparseTile + cols.from;
    panel_scores(t.q + row * t.q_stride, t.q_stride, count, x.dim, panels, cols, s, kSparseTile);
    if (x.hook) {
      for (int64_t r = 0; r < count; ++r)
        for (int64_t c = 0; c < padded; c += 16)
          store(load(s + r * kSparseTile + c) * splat(x.scale), s + r * kSparseTile + c);
      x.hook->scores(hooked, x.tables, s);
    }
    pair.hide(s, kSparseTile, row, count, cols);
    for (int64_t r = 0; r < count; ++r) {
      float* own = s + r * kSparseTile;
      soften(t.running, row + r, own, padded, factor);
      if (!dropout.on()) continue;
      const int64_t place = first_row + pair.queries.at(row + r);
      if (pair.keys.gathered) {
        keep_bits(own, kept_bits(dropout, place, pair.keys) >> cols.from, padded, 0);
        continue;
      }
      const DropoutRow keep(dropout, place);
      const int64_t column = pair.keys.tile.first + cols.from;
      for (int64_t c = 0; c < padded; c += 16) store(keep.mask(load(own + c), column + c), own + c);
    }
  }
  for (int64_t row = 0; row < rows; row += height) {
    const int64_t count = std::min(height, rows - row);
    const Mask::Range cols = pair.columns(row);
    if (cols.from >= cols.to) continue;
    float* out = t.running.out + row * width;
    block_product<false>({count, width, cols.to - cols.from, w.scores + row * kSparseTile + cols.from, kSparseTile,
                          values + cols.from * width, width, out, width},
                         true);
    if (x.hook) x.hook->values(hooked, x.tables, w.scores, out, width);
  }
}

/// One key-value head of a segment.
void sparse_unit_forward(const AttentionForward& a, const SparseForwardSpace& w, int64_t segment, int64_t head_kv) {
  const AttentionShape& x = a.shape;
  const TilePattern& p = *x.pattern->segments[static_cast<size_t>(segment)];
  const int64_t n = p.length(), width = round16(x.dim), group = x.heads / x.heads_kv;
  const int64_t first = x.queries->begin(segment), tiles = std::ssize(p.tiles());
  const float factor = x.hook ? kLog2E : x.scale * kLog2E;
  const float* k = a.k.data + x.keys->begin(segment) * a.k.stride + head_kv * x.dim;
  const float* v = a.v.data + x.keys->begin(segment) * a.v.stride + head_kv * x.dim;
  std::fill(w.packed, w.packed + tiles, 0.0f);
  const auto pack = [&](int64_t tile) {
    if (w.packed[tile] != 0) return;
    w.packed[tile] = 1;
    const SparseRows rows(p, p.tiles()[static_cast<size_t>(tile)]);
    float* values = w.values + tile * kSparseTile * width;
    float* keys = w.keys + tile * kSparseTile * x.dim;
    if (rows.gathered) {  // the rows of keys pass through the place of the values
      rows.copy(k, a.k.stride, x.dim, values);
      pack_transposed(values, width, rows.count(), x.dim, keys);
    } else {
      pack_transposed(k + rows.tile.first * a.k.stride, a.k.stride, rows.count(), x.dim, keys);
    }
    rows.copy(v, a.v.stride, x.dim, values);
  };
  const bool once = p.asks_once();
  for (int64_t head = head_kv * group; head < (head_kv + 1) * group; ++head) {
    const float* q = a.q.data + first * a.q.stride + head * x.dim;
    const float kept = x.dropout.on() ? dropout_scale(x.dropout.rate) : 1.0f;
    const auto finish = [&](int64_t row, int64_t rows, const RunningRows& running) {
      finish_rows(running, rows, x.dim, kept, {a.out.data + (first + row) * a.out.stride + head * x.dim, a.out.stride},
                  factor, w.sums, a.log_sum + head * x.queries->rows() + first + row);
    };
    if (!once) RunningRows{w.max, w.lanes, w.out, width}.begin(n);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const TilePattern::Meetings met = p.of_queries(tile);
      const SparseRows rows(p, p.tiles()[static_cast<size_t>(tile)]);
      if (met.empty() && !(once && !rows.gathered)) continue;
      SparseQueries t{segment, head, q + rows.tile.first * a.q.stride, a.q.stride, {w.max, w.lanes, w.out, width}};
      if (once) {
        t.running.begin(rows.count());
      } else if (!rows.gathered) {
        const int64_t row = rows.tile.first;
        t.running = {w.max + row, w.lanes + row * 16, w.out + row * width, width};
      } else {
        rows.copy(q, a.q.stride, x.dim, w.q);
        t.q = w.q;
        t.q_stride = width;
        t.running = {w.tile_max, w.tile_lanes, w.tile_out, width};
        for (int64_t i = 0; i < rows.count(); ++i) {
          const int64_t row = rows.at(i);
          w.tile_max[i] = w.max[row];
          std::copy_n(w.lanes + row * 16, 16, w.tile_lanes + i * 16);
          std::copy_n(w.out + row * width, width, w.tile_out + i * width);
        }
      }
      for (const TilePattern::Meeting& m : met) {
        pack(m.key);
        meet_forward(a, w, {x, p, segment, m}, t, m.key);
      }
      if (once) finish(rows.tile.first, rows.count(), t.running);
      if (once || !rows.gathered) continue;
      for (int64_t i = 0; i < rows.count(); ++i) {
        const int64_t row = rows.at(i);
        w.max[row] = w.tile_max[i];
        std::copy_n(w.tile_lanes + i * 16, 16, w.lanes + row * 16);
        std::copy_n(w.tile_out + i * width, width, w.out + row * width);
      }
    }
    for (int64_t row = 0; row < n && !once; row += kSparseTile)
      finish(row, std::min(kSparseTile, n - row), {w.max + row, w.lanes + row * 16, w.out + row * width, width});
  }
}

void sparse_attention_forward(const AttentionForward& a, ThreadPool* pool) {
  const AttentionShape& x = a.shape;
  const SparseSizes sizes(x);
  const int64_t each_worker = SparseForwardSpace::layout(x, sizes, nullptr, nullptr);
  parallel_for(pool, x.queries->count() * x.heads_kv, [&](int64_t unit, int worker) {
    SparseForwardSpace w;
    SparseForwardSpace::layout(x, sizes, static_cast<float*>(a.scratch) + worker * each_worker, &w);
    sparse_unit_forward(a, w, unit / x.heads_kv, unit % x.heads_kv);
  });
}

int64_t sparse_forward_floats(const AttentionShape& x) {
  return SparseForwardSpace::layout(x, SparseSizes(x), nullptr, nullptr);
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

int64_t sparse_backward_scratch(const AttentionShape& shape);

KERNEL_EXPORT(sparse_attention_forward);
KERNEL_EXPORT(sparse_forward_floats);

void sparse_attention_forward(const AttentionForward& a, ThreadPool* pool) {
  KERNEL_CALL(sparse_attention_forward)(a, pool);
}

int64_t sparse_attention_scratch(const AttentionShape& shape, int workers, bool backward) {
  return workers * 4 * (backward ? sparse_backward_scratch(shape) : HWY_DYNAMIC_DISPATCH(sparse_forward_floats)(shape));
}

}  // namespace attune::kernels
#endif
