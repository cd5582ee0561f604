#include "kernels/attention/score_attention.h"

#include <algorithm>
#include <cmath>

#define KERNELS_FILE "kernels/attention/score_attention.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/score_strips.h"
#include "kernels/dropout.h"

KERNELS_BEGIN

/// The part of the scratch one worker uses.
struct ScoreForwardSpace {
  StripKeys keys;
  float *values, *q, *out, *scores;
  static int64_t layout(const ScoreShape& x, float* base, ScoreForwardSpace* s) {
    const int64_t m = x.attention.keys->longest, width = round16(x.attention.dim);
    Take take{base};
    ScoreForwardSpace out{};
    out.keys = {take(StripKeys::floats(x, m)), take(StripKeys::half_floats(x, m))};
    out.values = take(m * width);
    out.q = take(kStripRows * width);
    out.out = take(kStripRows * width);
    out.scores = take(strip_floats(x.attention, m));
    if (s) *s = out;
    return take.at - base;
  }
};

void forward_strip(const ScoreForward& a, const ScoreForwardSpace& w, const ScoreStrip& t) {
  const AttentionShape& x = a.shape.attention;
  const int64_t width = round16(x.dim);
  if (t.count() > 0) {
    const Dropout dropout = dropout_of_head(x, t.head);
    take_queries(t, a.q, w.q);
    score_strip(t, w.q, w.keys);
    for (int64_t r = 0; r < t.rows; ++r) {
      const Mask::Range packs = weigh_row(t, r);
      if (!dropout.on()) continue;
      const DropoutRow keep(dropout, t.row(r));
      float* s = t.s + r * t.stride;
      for (int64_t c = packs.from; c < packs.to; c += 16) store(keep.apply(load(s + c), t.keys.from + c), s + c);
    }
  }
  block_product<false>({t.rows, width, t.count(), t.s, t.stride, w.values + t.keys.from * width, width, w.out, width},
                       false);
  put_rows(w.out, t.rows, x.dim, a.out, t.row(0), t.head * x.dim, false);
}

void forward_unit(const ScoreForward& a, const ScoreForwardSpace& w, int64_t segment, int64_t head_kv) {
  const AttentionShape& x = a.shape.attention;
  const int64_t n = x.queries->length(segment), m = x.keys->length(segment), group = x.heads / x.heads_kv;
  if (n == 0) return;
  const int64_t row = x.keys->begin(segment), column = head_kv * x.dim;
  pack_keys(a.shape, a.k.data + row * a.k.stride + column, a.k.stride, m, w.keys);
  copy_dense(a.v.data + row * a.v.stride + column, a.v.stride, m, x.dim, w.values);
  for (int64_t query = 0; query < n;) {
    ScoreStrip t(a.shape, segment, query, w.scores);
    for (t.head = head_kv * group; t.head < (head_kv + 1) * group; ++t.head) forward_strip(a, w, t);
    query += t.rows;
  }
}

void score_attention_forward(const ScoreForward& a, ThreadPool* pool) {
  const AttentionShape& x = a.shape.attention;
  const int64_t each_worker = ScoreForwardSpace::layout(a.shape, nullptr, nullptr);
  parallel_for(pool, x.queries->count() * x.heads_kv, [&](int64_t unit, int worker) {
    ScoreForwardSpace w;
    ScoreForwardSpace::layout(a.shape, static_cast<float*>(a.scratch) + worker * each_worker, &w);
    forward_unit(a, w, unit / x.heads_kv, unit % x.heads_kv);
  });
}

int64_t score_forward_floats(const ScoreShape& x) { return ScoreForwardSpace::layout(x, nullptr, nullptr); }

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

int64_t score_backward_floats(const ScoreShape& shape, int workers);

KERNEL_EXPORT(score_attention_forward);
KERNEL_EXPORT(score_forward_floats);

void score_attention_forward(const ScoreForward& a, ThreadPool* pool) { KERNEL_CALL(score_attention_forward)(a, pool); }

int64_t score_attention_scratch(const ScoreShape& x, int workers, bool backward) {
  return 4 * (backward ? score_backward_floats(x, workers) : workers * HWY_DYNAMIC_DISPATCH(score_forward_floats)(x));
}

}  // namespace attune::kernels
#endif
