// The backward pass of attention: five products a tile, everything else recomputed from Q, K, V and the kept log-sums.
//
//   P = exp2(S factor - log_sum)      dV += P~^T dO       dP = dO V^T, masked and scaled like P~ = dropout(P)
//   D = rowsum(dO * O)                dS = P (dP - D)     dQ += scale dS K       dK += scale dS^T Q
#include <cmath>
#include <optional>

#include "kernels/attention/attention.h"
#include "kernels/attention/sparse_attention.h"

#define KERNELS_FILE "kernels/attention/attention_backward.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/attention_tiles.h"
#include "kernels/dropout.h"
#include "kernels/math.h"
#include "kernels/tile.h"

KERNELS_BEGIN

/// Keys whose gradients are summed at a time: fewer in a band, where each is seen by few rows.
HWY_INLINE int64_t key_run(const Mask& mask) { return banded(mask) ? kTileRows : 4 * kTileRows; }

/// Rows of queries that are held at a time: all of n, or what a band can touch while one key tile is at hand.
HWY_INLINE int64_t held_rows(const AttentionShape& x, int64_t n) {
  const int64_t tile = narrow(x.mask) ? kNarrowQueryTile : kQueryTile;
  return ring_tiles(x.mask, n, tile, kKeyTile + tile) * tile;
}

/// The part of the scratch one worker uses, and where the rows of the unit at hand lie: there or in place.
struct BackwardSpace {
  float *keys_t, *values_t, *scores, *dweights, *dots, *hook;
  Rows keys, dk, dv;  // of one key tile
  Rows q, dout, dq;   // of the query rows held, for each head of the group: see Held
  bool add_dq = true, add_dk = true, add_dv = true;
  static int64_t layout(const AttentionShape& x, int64_t together, float* base, BackwardSpace* s) {
    const int64_t width = round16(x.dim);
    const int64_t rows = held_rows(x, x.queries->longest) * together * (x.heads / x.heads_kv);
    Take take{base};
    BackwardSpace out{};
    out.keys_t = take(kKeyTile * x.dim);
    out.values_t = take(kKeyTile * x.dim);
    out.scores = take(kQueryTile * kKeyTile);
    out.dweights = take(kQueryTile * kKeyTile);
    out.dots = take(rows);
    out.hook = take(x.hook_floats());
    out.keys = {take(kKeyTile * width), width};
    out.q = {take(rows * width), width};
    out.dout = {take(rows * width), width};
    out.dq = {take(rows * width), width};
    out.dk = {take(kKeyTile * width), width};
    out.dv = {take(kKeyTile * width), width};
    if (s) *s = out;
    return take.at - base;
  }
};

/// From scores and dP of a tile: P~ (what dV needs) in place of the scores, dS in place of dP. `dots` holds D of each
/// row; where one tile has all keys (dots == nullptr) D = rowsum(P dP) is at hand, and nearer to what the tile holds.
void soften_backward(const AttentionBackward& a, const ScoreTile& tile, float* scores, float* dweights,
                     const float* dots) {
  const AttentionShape& x = a.shape;
  const int64_t row = x.queries->begin(tile.segment) + tile.query;
  const float factor = x.hook ? kLog2E : x.scale * kLog2E;
  const float after = x.hook ? 1.0f : x.scale;  // with a hook the gradient of the scores is needed unscaled first
  const float* log_sum = a.log_sum + tile.head * x.queries->rows() + row;
  const int64_t padded = round16(tile.cols);
  const Dropout dropout = dropout_of_head(x, tile.head);
  for (int64_t r = 0; r < tile.rows; ++r) {
    float *s = scores + r * kKeyTile, *ds = dweights + r * kKeyTile;
    const auto shift = splat(-log_sum[r]), by = splat(factor), scale = splat(after);
    const DropoutRow keep(dropout, row + r);
    if (dots) {
      const auto dot = splat(dots[r]);
      for (int64_t c = 0; c < padded; c += 16) {
        const auto p = exp2_weights(fma(load(s + c), by, shift));
        const auto dp = load(ds + c);
        store(dropout.on() ? keep.apply(p, tile.key + c) : p, s + c);
        store(p * ((dropout.on() ? keep.apply(dp, tile.key + c) : dp) - dot) * scale, ds + c);
      }
      continue;
    }
    auto total = zero<float>(), dot = zero<float>();
    for (int64_t c = 0; c < padded; c += 16) {
      const auto p = exp2_weights(fma(load(s + c), by, shift));
      auto dp = first_n(load(ds + c), tile.cols - c, zero<float>());  // nothing was written beyond
      if (dropout.on()) dp = keep.apply(dp, tile.key + c);
      total = total + p;
      dot = fma(p, dp, dot);
      store(p, s + c);
      store(dp, ds + c);
    }
    const float sum_of_row = sum(total);
    const auto d = splat(sum_of_row > 0 ? sum(dot) / sum_of_row : 0.0f);
    for (int64_t c = 0; c < padded; c += 16) {
      const auto p = load(s + c);
      store(p * (load(ds + c) - d) * scale, ds + c);
      if (dropout.on()) store(keep.apply(p, tile.key + c), s + c);
    }
  }
}

/// One strip of rows of a tile: which keys of the tile it sees, and where its rows lie.
struct Strip {
  ScoreTile tile;  // rows, and the keys seen
  int64_t at;      // of the first row in w.q, w.dout, w.dq
  float *s, *ds;   // scores and dP of the first row and key
};

Strip strip_of(const AttentionBackward& a, const BackwardSpace& w, const ScoreTile& tile, int64_t at, int64_t from,
               int64_t key0) {
  const int64_t rows = std::min(strip_height(a.shape), tile.rows - from);
  const Mask::Range cols = keys_in_tile(a.shape, tile.segment, tile.query + from, rows, key0);
  Strip x{tile, at + from, nullptr, nullptr};
  x.tile.query += from;
  x.tile.rows = rows;
  x.tile.key = cols.from;
  x.tile.cols = std::max<int64_t>(cols.to - cols.from, 0);
  x.tile.q = w.q.data + x.at * w.q.stride;
  x.tile.q_stride = w.q.stride;
  x.tile.scale = a.shape.scale;
  x.tile.scratch = w.hook;
  x.s = w.scores + from * kKeyTile + cols.from - tile.key;
  x.ds = w.dweights + from * kKeyTile + cols.from - tile.key;
  return x;
}

/// What lies outside the strip's keys in its rows of the tile: no weight, no gradient.
void clear_outside(const BackwardSpace& w, const ScoreTile& tile, const Strip& x) {
  const int64_t row = x.tile.query - tile.query, from = x.tile.key - tile.key, to = from + round16(x.tile.cols);
  for (int64_t c = 0; c < round16(tile.cols); c += 16) {
    if (c >= from && c < to) continue;
    for (int64_t r = row; r < row + x.tile.rows; ++r) {
      store(zero<float>(), w.scores + r * kKeyTile + c);
      store(zero<float>(), w.dweights + r * kKeyTile + c);
    }
  }
}

/// dP of a strip whose scores are there, and from both P~ and dS.
void strip_backward(const AttentionBackward& a, const BackwardSpace& w, const Strip& x, int64_t key0) {
  const AttentionShape& shape = a.shape;
  const TileHook* hook = shape.hook;
  const float* dout = w.dout.data + x.at * w.dout.stride;
  const int64_t padded = round16(x.tile.cols);
  panel_scores(dout, w.dout.stride, x.tile.rows, shape.dim, w.values_t,
               {x.tile.key - key0, x.tile.key - key0 + x.tile.cols}, x.ds, kKeyTile);
  const float* dots = x.tile.keys <= kKeyTile && !a.part ? nullptr : w.dots + x.at;
  if (!hook) {
    hide_tile(shape, x.tile, x.s);
    return soften_backward(a, x.tile, x.s, x.ds, dots);
  }
  const ScoreTile seen = shape.hooked(x.tile);
  scale_tile(x.s, x.tile.rows, padded, shape.scale);
  hook->scores(seen, shape.tables, x.s);
  hook->values_backward(seen, shape.tables, dout, w.dout.stride, x.ds);
  hide_tile(shape, x.tile, x.s);
  soften_backward(a, x.tile, x.s, x.ds, dots);
  hook->values_gradient(seen, shape.tables, x.s, dout, w.dout.stride);
  hook->scores_backward(seen, shape.tables, x.ds, w.dq.data + x.at * w.dq.stride, w.dq.stride);
  scale_tile(x.ds, x.tile.rows, padded, shape.scale);
}

/// One tile: adds to dK, dV of the key tile that begins at key0, and to dQ of the query rows, which lie from `at` on in
/// w.q, w.dout and w.dq. Each loop goes over the rows in strips and keeps one side's panels in L1.
void tile_backward(const AttentionBackward& a, const BackwardSpace& w, const ScoreTile& tile, int64_t at, int64_t key0,
                   Ahead& ahead) {
  const AttentionShape& x = a.shape;
  const int64_t width = round16(x.dim), height = strip_height(x);
  const float *q = w.q.data + at * w.q.stride, *dout = w.dout.data + at * w.dout.stride;
  float* dq = w.dq.data + at * w.dq.stride;
  if (x.hook && !w.add_dq)  // the hook adds to dQ before the product does
    for (int64_t r = 0; r < tile.rows; ++r) std::fill_n(dq + r * w.dq.stride, width, 0.0f);
  const bool add_dq = w.add_dq || x.hook;
  Strip strips[kQueryTile / kTileRows];
  int64_t count = 0;
  for (int64_t from = 0; from < tile.rows; from += height) {
    const Strip& t = strips[count++] = strip_of(a, w, tile, at, from, key0);
    clear_outside(w, tile, t);
    panel_scores(t.tile.q, w.q.stride, t.tile.rows, x.dim, w.keys_t,
                 {t.tile.key - key0, t.tile.key - key0 + t.tile.cols}, t.s, kKeyTile);
    ahead.some();
  }
  for (int64_t i = 0; i < count; ++i) {
    if (strips[i].tile.cols > 0) strip_backward(a, w, strips[i], key0);
    ahead.some();
  }
  for (int64_t i = 0; i < count; ++i) {
    ahead.some();
    const ScoreTile& t = strips[i].tile;
    if (t.cols > 0 || !add_dq)
      block_product<false>({t.rows, width, t.cols, strips[i].ds, kKeyTile, w.keys.data + (t.key - key0) * w.keys.stride,
                            w.keys.stride, dq + i * height * w.dq.stride, w.dq.stride},
                           add_dq);
  }
  // dV, then dK: a run of keys at a time, from the strips that see it
  const int64_t run = key_run(x.mask);
  const auto keys_gradient = [&](const float* weights, const float* rows_of, int64_t stride, const Rows& to, bool add) {
    for (int64_t key = 0; key < tile.cols; key += run) {
      const int64_t keys = std::min(run, tile.cols - key);
      int64_t first = 0, last = count;
      while (first < last && strips[first].tile.key + strips[first].tile.cols <= tile.key + key) ++first;
      while (last > first && strips[last - 1].tile.key >= tile.key + key + keys) --last;
      const int64_t from = first * height, rows = std::max<int64_t>(std::min(tile.rows, last * height) - from, 0);
      if (rows > 0 || !add)
        block_product<true>({keys, width, rows, weights + from * kKeyTile + key, kKeyTile, rows_of + from * stride,
                             stride, to.data + (tile.key - key0 + key) * to.stride, to.stride},
                            add);
    }
  };
  keys_gradient(w.scores, dout, w.dout.stride, w.dv, w.add_dv);
  keys_gradient(w.dweights, q, w.q.stride, w.dk, w.add_dk);
}

/// dots[r] = the row's dO . O, for one head.
void row_dots(const AttentionBackward& a, const Rows& dout, int64_t rows, int64_t row, int64_t column, float* dots) {
  for (int64_t r = 0; r < rows; ++r) {
    auto dot = zero<float>();
    const float *out = a.out.data + (row + r) * a.out.stride + column, *d_out = dout.data + r * dout.stride;
    for_packs(a.shape.dim, [&](int64_t d, int64_t count)
                               HWY_ATTR { dot = fma(load_at(out + d, count), load_at(d_out + d, count), dot); });
    dots[r] = sum(dot);
  }
}

/// A short sequence: one tile a head, rows read and written in place.
void short_unit_backward(const AttentionBackward& a, BackwardSpace w, int64_t segment, int64_t head_kv) {
  const AttentionShape& x = a.shape;
  const int64_t n = x.queries->length(segment), m = x.keys->length(segment), group = x.heads / x.heads_kv;
  const int64_t row = x.queries->begin(segment), key_row = x.keys->begin(segment), column_kv = head_kv * x.dim;
  w.keys = {a.k.data + key_row * a.k.stride + column_kv, a.k.stride};
  w.dk = {a.dk.data + key_row * a.dk.stride + column_kv, a.dk.stride};
  w.dv = {a.dv.data + key_row * a.dv.stride + column_kv, a.dv.stride};
  if (head_kv + 1 < x.heads_kv) {  // the next unit's rows
    const int64_t next = column_kv + x.dim;
    fetch(a.k, key_row, {0, m}, next, x.dim);
    fetch(a.v, key_row, {0, m}, next, x.dim);
    fetch(a.q, row, {0, n}, next * group, x.dim * group);
    fetch(a.dout, row, {0, n}, next * group, x.dim * group);
  }
  pack_transposed(w.keys.data, w.keys.stride, m, x.dim, w.keys_t);
  pack_transposed(a.v.data + key_row * a.v.stride + column_kv, a.v.stride, m, x.dim, w.values_t);
  for (int64_t g = 0; g < group; ++g) {
    const int64_t head = head_kv * group + g, column = head * x.dim;
    w.q = {a.q.data + row * a.q.stride + column, a.q.stride};
    w.dout = {a.dout.data + row * a.dout.stride + column, a.dout.stride};
    w.dq = {a.dq.data + row * a.dq.stride + column, a.dq.stride};
    w.add_dq = a.add_dq;
    w.add_dk = a.add_dk || g > 0;
    w.add_dv = a.add_dv || g > 0;
    Ahead nothing;
    tile_backward(a, w, {segment, head, n, m, 0, 0, n, m, kKeyTile, nullptr, 0, x.dim}, 0, 0, nothing);
  }
}

/// The query rows of one key-value head that are at hand: copied side by side when a key tile first needs them, their
/// gradient written out when no later one will. They lie in a ring of tiles of `step` rows, for each head of the group.
class Held {
 public:
  /// The i-th of the heads that are taken together.
  Held(const AttentionBackward& a, const BackwardSpace& w, int64_t segment, int64_t head_kv, int64_t i)
      : a_(a),
        w_(w),
        x_(a.shape),
        group_(x_.heads / x_.heads_kv),
        n_(x_.queries->length(segment)),
        row_(x_.queries->begin(segment)),
        head_(head_kv * group_),
        rows_(held_rows(x_, n_)),
        first_(i * group_ * held_rows(x_, x_.queries->longest)),
        width_(round16(x_.dim)),
        step_(query_tile(x_.mask, x_.keys->length(segment))),
        dots_(a.part || x_.keys->length(segment) > kKeyTile) {}

  int64_t step() const { return step_; }
  /// Where the rows from `query` on, the first of a tile, lie for the g-th head.
  int64_t at(int64_t query, int64_t g) const { return first_ + g * rows_ + query % rows_; }

  /// Makes tiles from `from` (the first of a tile) up to `to` available; those before `from` are done with.
  void hold(int64_t from, int64_t to) {
    release(std::min(from, next_));
    for (; next_ < to; next_ += step_) {
      for (int64_t g = 0; g < group_; ++g) {
        const int64_t rows = std::min(step_, n_ - next_), place = at(next_, g), row = row_ + next_;
        const int64_t column = (head_ + g) * x_.dim;
        const Rows dout{w_.dout.data + place * width_, width_};
        copy_dense(a_.q.data + row * a_.q.stride + column, a_.q.stride, rows, x_.dim, w_.q.data + place * width_);
        copy_dense(a_.dout.data + row * a_.dout.stride + column, a_.dout.stride, rows, x_.dim, dout.data);
        if (dots_) row_dots(a_, dout, rows, row, column, w_.dots + place);
        std::fill_n(w_.dq.data + place * width_, rows * width_, 0.0f);
      }
      if (next_ + step_ <= from) release(next_ + step_);  // no key tile ever saw it
    }
  }
  /// Writes out dQ of all tiles before `query`.
  void release(int64_t query) {
    for (; done_ < query; done_ += step_)
      for (int64_t g = 0; g < group_; ++g)
        put_rows(w_.dq.data + at(done_, g) * width_, std::min(step_, n_ - done_), x_.dim, a_.dq, row_ + done_,
                 (head_ + g) * x_.dim, a_.add_dq);
  }

 private:
  const AttentionBackward& a_;
  const BackwardSpace& w_;
  const AttentionShape& x_;
  int64_t group_, n_, row_, head_, rows_, first_, width_, step_;
  bool dots_;
  int64_t next_ = 0, done_ = 0;  // the first tile not copied yet, the first not written out yet
};

/// A tile of keys of one key-value head: its own gradients, and what it adds to those of the queries that see it.
void keys_backward(const AttentionBackward& a, const BackwardSpace& w, Held& held, int64_t segment, int64_t head_kv,
                   int64_t key) {
  const AttentionShape& x = a.shape;
  const int64_t n = x.queries->length(segment), m = x.keys->length(segment), group = x.heads / x.heads_kv;
  const int64_t end = std::min(m, key + kKeyTile), row = x.keys->begin(segment) + key, column = head_kv * x.dim;
  const int64_t step = held.step();
  const float* k = a.k.data + row * a.k.stride + column;
  pack_transposed(k, a.k.stride, end - key, x.dim, w.keys_t);
  pack_transposed(a.v.data + row * a.v.stride + column, a.v.stride, end - key, x.dim, w.values_t);
  copy_dense(k, a.k.stride, end - key, x.dim, w.keys.data);
  for (float* to : {w.dk.data, w.dv.data}) std::fill_n(to, (end - key) * round16(x.dim), 0.0f);
  const int64_t first = first_query_tile(x, segment, key, step);
  int64_t last = first;  // the end of the tiles that see this one
  while (last < n && keys_of_rows(x, segment, last, std::min(step, n - last)).from < end) last += step;
  held.hold(first, last);
  Ahead ahead;
  if (banded(x.mask)) {  // little is computed until then
    ahead.start(3 * group * ((last - first) / strip_height(x)));
    for (const Rows& to : {a.dk, a.dv})
      if (to.data) ahead.add({to.data + column, to.stride}, {row, row + end - key}, x.dim);
  }
  for (int64_t g = 0; g < group; ++g)
    for (int64_t query = first; query < last; query += step) {
      const int64_t rows = std::min(step, n - query);
      const Mask::Range cols = keys_in_tile(x, segment, query, rows, key);
      if (cols.from < cols.to)
        tile_backward(a, w,
                      {segment, head_kv * group + g, n, m, query, cols.from, rows, cols.to - cols.from, kKeyTile,
                       nullptr, 0, x.dim},
                      held.at(query, g), key, ahead);
    }
  put_rows(w.dk.data, end - key, x.dim, a.dk, row, column, a.add_dk);
  put_rows(w.dv.data, end - key, x.dim, a.dv, row, column, a.add_dv);
}

/// Key tiles outside, heads and the queries that see them inside.
void unit_backward(const AttentionBackward& a, const BackwardSpace& w, const HeadUnit& u) {
  const int64_t n = a.shape.queries->length(u.segment), m = a.shape.keys->length(u.segment);
  std::optional<Held> held[kMostTogether];
  for (int64_t h = u.from; h < u.to; ++h) held[h - u.from].emplace(a, w, u.segment, h, h - u.from);
  for (int64_t key = 0; key < m; key += kKeyTile)
    for (int64_t h = u.from; h < u.to; ++h) keys_backward(a, w, *held[h - u.from], u.segment, h, key);
  for (int64_t h = u.from; h < u.to; ++h) {
    held[h - u.from]->hold(n, n);  // queries that see no key still get their zeros
    held[h - u.from]->release(n);
  }
}

int64_t backward_floats(const AttentionShape& x, int workers) {
  return BackwardSpace::layout(x, heads_together(x, workers), nullptr, nullptr);
}

void attention_backward(const AttentionBackward& a, ThreadPool* pool) {
  const AttentionShape& x = a.shape;
  const int64_t together = heads_together(x, workers_of(pool)), parts = HeadUnit::parts(x, together);
  const int64_t each_worker = backward_floats(x, workers_of(pool)), segments = x.queries->count();
  const auto unit = [&](int64_t i, int worker) {
    const HeadUnit u(x, together, i);
    BackwardSpace w;
    BackwardSpace::layout(x, together, static_cast<float*>(a.scratch) + worker * each_worker, &w);
    const int64_t n = x.queries->length(u.segment), m = x.keys->length(u.segment);
    if (n > 0 && m > 0 && std::max(n, m) <= kShort && !a.part && x.dim % 16 == 0 && a.dq.data && a.dk.data && a.dv.data)
      for (int64_t h = u.from; h < u.to; ++h) short_unit_backward(a, w, u.segment, h);
    else
      unit_backward(a, w, u);
  };
  // Where a hook's tables gather gradients, what adds to the same numbers must come in one order: segment by segment.
  const bool gathers = x.hook && x.tables.gather();
  if (gathers && x.hook->heads_apart() && workers_of(pool) > 1)
    parallel_for(pool, parts, [&](int64_t part, int worker) {
      for (int64_t segment = 0; segment < segments; ++segment) unit(segment * parts + part, worker);
    });
  else
    parallel_for(gathers ? nullptr : pool, segments * parts, unit);
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(attention_backward);
KERNEL_EXPORT(backward_floats);

void attention_backward(const AttentionBackward& a, ThreadPool* pool) {
  if (a.shape.pattern) return sparse_attention_backward(a, pool);
  KERNEL_CALL(attention_backward)(a, pool);
}
int64_t attention_backward_floats(const AttentionShape& x, int workers) {
  return HWY_DYNAMIC_DISPATCH(backward_floats)(x, workers);
}

}  // namespace attune::kernels
#endif
