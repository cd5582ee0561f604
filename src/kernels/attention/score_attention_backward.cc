// The backward pass of score attention. A strip's scores S and weights P = normalise(factor S) are computed anew, then
//
//   dV += P~^T dO    dP = dO V^T, masked and scaled like P~ = dropout(P)    dS = factor (dP through the normaliser)
//
//   dot       S = Q K^T                        dQ = dS K              dK += dS^T Q
//   l2        S = Q K^T - |k|^2 / 2            dQ = dS K              dK += dS^T Q - k sum_i dS
//   additive  S = v . T, T = tanh(q + b + k)   dq = v sum_j dS (1 - T^2)   dk = v sum_i dS (1 - T^2)   dv = sum dS T
#include <algorithm>
#include <cmath>

#include "kernels/attention/score_attention.h"

#define KERNELS_FILE "kernels/attention/score_attention_backward.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/score_strips.h"
#include "kernels/dropout.h"

KERNELS_BEGIN

/// The part of the scratch one worker uses. Key-side matrices have all keys of a segment.
struct ScoreBackwardSpace {
  StripKeys keys;
  float *keys_dense, *values_t, *dk, *dv, *key_sums;
  float *q, *dout, *dq, *scores, *dscores;
  static int64_t layout(const ScoreShape& x, float* base, ScoreBackwardSpace* s) {
    const int64_t m = x.attention.keys->longest, width = round16(x.attention.dim);
    Take take{base};
    ScoreBackwardSpace out{};
    out.keys = {take(StripKeys::floats(x, m)), take(StripKeys::half_floats(x, m))};
    out.values_t = take(StripKeys::floats(x, m));
    out.keys_dense = take(m * width);
    out.dk = take(m * width);
    out.dv = take(m * width);
    out.key_sums = take(StripKeys::half_floats(x, m));
    out.q = take(kStripRows * width);
    out.dout = take(kStripRows * width);
    out.dq = take(kStripRows * width);
    out.scores = take(strip_floats(x.attention, m));
    out.dscores = take(strip_floats(x.attention, m));
    if (s) *s = out;
    return take.at - base;
  }
};

/// Gradients of the additive score's parameters: a row for each segment and head, so that their sum has one order.
struct ParameterSpace {
  float *vector = nullptr, *bias = nullptr;  // [segments, heads, width]
  int64_t heads = 0, width = 0;
  static int64_t layout(const ScoreShape& x, float* base, ParameterSpace* s) {
    Take take{base};
    ParameterSpace out;
    out.heads = x.attention.heads;
    out.width = round16(x.attention.dim);
    const int64_t floats =
        x.rule.score == ScoreKind::additive ? x.attention.queries->count() * out.heads * out.width : 0;
    out.vector = take(floats);
    out.bias = take(floats);
    if (s) *s = out;
    return take.at - base;
  }
  int64_t at(int64_t segment, int64_t head) const { return (segment * heads + head) * width; }
};

/// From P and dP of a strip P~ and dS, in place.
void strip_gradients(const ScoreStrip& t, float* dscores) {
  const Dropout dropout = dropout_of_head(t.x.attention, t.head);
  const float factor = score_factor(t.x.rule, t.x.attention.scale);
  for (int64_t r = 0; r < t.rows; ++r) {
    float *p = t.s + r * t.stride, *d = dscores + r * t.stride;
    const Mask::Range packs = weigh_row(t, r);
    const DropoutRow keep(dropout, t.row(r));
    for (int64_t c = 0; c < t.count(); c += 16) {
      const bool inside = c >= packs.from && c < packs.to;
      auto dp = inside ? first_n(load(d + c), t.count() - c, zero<float>()) : zero<float>();  // beyond is anything
      if (inside && dropout.on()) dp = keep.apply(dp, t.keys.from + c);
      store(dp, d + c);
    }
    normalise_row_backward(t.x.rule.normaliser, factor, p + packs.from, d + packs.from, packs.to - packs.from);
    if (!dropout.on()) continue;
    for (int64_t c = packs.from; c < packs.to; c += 16) store(keep.apply(load(p + c), t.keys.from + c), p + c);
  }
}

/// dQ of a strip, and what it adds to dK, to dv and to db (one row each), of sixteen columns from d on. One pair of
/// rows after another: tanh is nearly all the work.
void additive_backward(const ScoreStrip& t, const ScoreBackwardSpace& w, const ParameterSpace& to, int64_t d,
                       int64_t columns) {
  const int64_t dim = t.x.attention.dim, width = round16(dim);
  const auto v = load_at(t.x.rule.vector + t.head * dim + d, columns), one = splat(1.0f);
  float *dvector_at = to.vector + to.at(t.segment, t.head) + d, *dbias_at = to.bias + to.at(t.segment, t.head) + d;
  auto dvector = load(dvector_at), dbias = load(dbias_at);
  for (int64_t r = 0; r < t.rows; ++r) {
    const auto q = load(w.q + r * width + d);
    const Mask::Range seen = t.seen(r);
    auto slopes = zero<float>(), values = zero<float>();
    for (int64_t c = seen.from; c < seen.to; ++c) {
      const float ds = w.dscores[r * t.stride + c];
      if (ds == 0) continue;  // few keys have weight where the normaliser is a sparse one
      const int64_t at = (t.keys.from + c) * width + d;
      const auto y = tanh(load(w.keys_dense + at) + q), by = splat(ds);
      const auto slope = by * (one - y * y);
      values = fma(by, y, values);
      slopes = slopes + slope;
      store(fma(slope, v, load(w.dk + at)), w.dk + at);
    }
    const auto dq = slopes * v;
    dvector = dvector + values;
    dbias = dbias + dq;
    store(dq, w.dq + r * width + d);
  }
  store(dvector, dvector_at);
  store(dbias, dbias_at);
}

void backward_strip(const ScoreBackward& a, const ScoreBackwardSpace& w, const ParameterSpace& to,
                    const ScoreStrip& t) {
  const AttentionShape& x = a.shape.attention;
  const int64_t width = round16(x.dim), from = t.keys.from * width, count = t.count();
  if (count > 0) {
    take_queries(t, a.q, w.q);
    copy_dense(a.dout.data + t.row(0) * a.dout.stride + t.head * x.dim, a.dout.stride, t.rows, x.dim, w.dout);
    score_strip(t, w.q, w.keys);
    panel_scores(w.dout, width, t.rows, x.dim, w.values_t, t.keys, w.dscores, t.stride);
    strip_gradients(t, w.dscores);
    block_product<true>({count, width, t.rows, t.s, t.stride, w.dout, width, w.dv + from, width}, true);
  }
  if (a.shape.rule.score == ScoreKind::additive && count > 0) {
    for_packs(x.dim, [&](int64_t d, int64_t columns) HWY_ATTR { additive_backward(t, w, to, d, columns); });
  } else {
    block_product<false>({t.rows, width, count, w.dscores, t.stride, w.keys_dense + from, width, w.dq, width}, false);
    if (count > 0)
      block_product<true>({count, width, t.rows, w.dscores, t.stride, w.q, width, w.dk + from, width}, true);
  }
  if (a.shape.rule.score == ScoreKind::l2)
    for (int64_t c = 0; c < count; c += 16) {
      auto total = load(w.key_sums + t.keys.from + c);
      for (int64_t r = 0; r < t.rows; ++r) total = total + load(w.dscores + r * t.stride + c);
      store(total, w.key_sums + t.keys.from + c);
    }
  put_rows(w.dq, t.rows, x.dim, a.dq, t.row(0), t.head * x.dim, a.add_dq);
}

void backward_unit(const ScoreBackward& a, const ScoreBackwardSpace& w, const ParameterSpace& to, int64_t segment,
                   int64_t head_kv) {
  const AttentionShape& x = a.shape.attention;
  const int64_t n = x.queries->length(segment), m = x.keys->length(segment), group = x.heads / x.heads_kv;
  const int64_t row = x.keys->begin(segment), column = head_kv * x.dim, width = round16(x.dim);
  const int64_t first_head = head_kv * group, last_head = first_head + group;
  const float *k = a.k.data + row * a.k.stride + column, *v = a.v.data + row * a.v.stride + column;
  const bool l2 = a.shape.rule.score == ScoreKind::l2;
  if (a.shape.rule.score == ScoreKind::additive) {
    std::fill_n(to.vector + to.at(segment, first_head), group * width, 0.0f);
    std::fill_n(to.bias + to.at(segment, first_head), group * width, 0.0f);
  }
  pack_keys(a.shape, k, a.k.stride, m, w.keys);
  pack_transposed(v, a.v.stride, m, x.dim, w.values_t);
  copy_dense(k, a.k.stride, m, x.dim, w.keys_dense);
  std::fill_n(w.dk, m * width, 0.0f);
  std::fill_n(w.dv, m * width, 0.0f);
  if (l2) std::fill_n(w.key_sums, round16(m), 0.0f);
  for (int64_t query = 0; query < n;) {
    ScoreStrip t(a.shape, segment, query, w.scores);
    for (t.head = first_head; t.head < last_head; ++t.head) backward_strip(a, w, to, t);
    query += t.rows;
  }
  for (int64_t j = 0; l2 && j < m; ++j) {
    const auto by = splat(-w.key_sums[j]);
    for (int64_t d = j * width; d < (j + 1) * width; d += 16)
      store(fma(by, load(w.keys_dense + d), load(w.dk + d)), w.dk + d);
  }
  put_rows(w.dk, m, x.dim, a.dk, row, column, a.add_dk);
  put_rows(w.dv, m, x.dim, a.dv, row, column, a.add_dv);
}

/// Sums over the segments, in ascending order.
void sum_parameters(const ScoreShape& x, const ParameterSpace& from, const float* parts, float* to, bool add) {
  const int64_t dim = x.attention.dim;
  for (int64_t head = 0; to && head < from.heads; ++head)
    for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR {
      auto total = zero<float>();
      for (int64_t s = 0; s < x.attention.queries->count(); ++s) total = total + load(parts + from.at(s, head) + d);
      put_at(total, to + head * dim + d, count, add);
    });
}

void score_attention_backward(const ScoreBackward& a, ThreadPool* pool) {
  const AttentionShape& x = a.shape.attention;
  auto* scratch = static_cast<float*>(a.scratch);
  ParameterSpace parameters;
  scratch += ParameterSpace::layout(a.shape, scratch, &parameters);
  const int64_t each_worker = ScoreBackwardSpace::layout(a.shape, nullptr, nullptr);
  parallel_for(pool, x.queries->count() * x.heads_kv, [&](int64_t unit, int worker) {
    ScoreBackwardSpace w;
    ScoreBackwardSpace::layout(a.shape, scratch + worker * each_worker, &w);
    backward_unit(a, w, parameters, unit / x.heads_kv, unit % x.heads_kv);
  });
  if (a.shape.rule.score != ScoreKind::additive) return;
  sum_parameters(a.shape, parameters, parameters.vector, a.dvector, a.add_dvector);
  sum_parameters(a.shape, parameters, parameters.bias, a.dbias, a.add_dbias);
}

int64_t score_backward_floats(const ScoreShape& x, int workers) {
  return ParameterSpace::layout(x, nullptr, nullptr) + workers * ScoreBackwardSpace::layout(x, nullptr, nullptr);
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(score_attention_backward);
KERNEL_EXPORT(score_backward_floats);

void score_attention_backward(const ScoreBackward& a, ThreadPool* pool) {
  KERNEL_CALL(score_attention_backward)(a, pool);
}
int64_t score_backward_floats(const ScoreShape& x, int workers) {
  return HWY_DYNAMIC_DISPATCH(score_backward_floats)(x, workers);
}

}  // namespace attune::kernels
#endif
