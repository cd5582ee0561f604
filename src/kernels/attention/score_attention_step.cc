// Score attention one row at a time: while decoding, and for people who want to look at the weights.
#include <algorithm>
#include <vector>

#include "kernels/attention/score_attention.h"

#define KERNELS_FILE "kernels/attention/score_attention_step.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/attention/score_rows.h"
#include "kernels/attention/step_rows.h"

KERNELS_BEGIN

/// The score of one pair, without score_factor.
HWY_INLINE float score_of(const ScoreRule& rule, int64_t head, const float* q, const float* k, int64_t dim) {
  if (rule.score == ScoreKind::dot) return dot(q, k, dim);
  auto total = zero<float>();
  if (rule.score == ScoreKind::l2) {
    for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR {
      const auto key = load_at(k + d, count);
      total = fma(key, load_at(q + d, count) - key * splat(0.5f), total);
    });
    return sum(total);
  }
  const float *v = rule.vector + head * dim, *bias = rule.bias ? rule.bias + head * dim : nullptr;
  for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR {
    auto x = load_at(q + d, count) + load_at(k + d, count);
    if (bias) x = x + load_at(bias + d, count);
    total = fma(load_at(v + d, count), tanh(x), total);
  });
  return sum(total);
}

/// n scores become weights, in place; what lies between n and the next whole pack becomes 0.
HWY_INLINE void weigh_scores(const ScoreRule& rule, float scale, float* s, int64_t n) {
  std::fill(s + n, s + round16(n), -INFINITY);
  normalise_row(rule.normaliser, score_factor(rule, scale), s, round16(n));
}

/// Row i, head by head.
void score_attend(const AttentionStep& a, const ScoreRule& rule, int64_t i, const StepSpace& w) {
  const int64_t n = find_keys(a, i, w), group = a.heads / a.heads_kv;
  for (int64_t h = 0; h < a.heads; ++h) {
    const int64_t column = h / group * a.dim;
    const float* q = a.q.data + i * a.q.stride + h * a.dim;
    for (int64_t j = 0; j < n; ++j) w.scores[j] = score_of(rule, h, q, w.keys[j] + column, a.dim);
    weigh_scores(rule, a.scale, w.scores, n);
    weighted_sums(w, n, column, a.dim, a.out.data + i * a.out.stride + h * a.dim);
  }
}

void score_attention_step(const AttentionStep& a, const ScoreRule& rule, ThreadPool* pool) {
  for_step_rows(a, pool, [&](int64_t i, const StepSpace& w) { score_attend(a, rule, i, w); });
}

/// One query's weights into w[keys]; `row` has room for whole packs of them.
void weights_of_row(const ScoreShape& shape, int64_t head, const float* q, Rows k, Mask::Range seen, float* row) {
  const int64_t dim = shape.attention.dim;
  for (int64_t j = seen.from; j < seen.to; ++j)
    row[j - seen.from] = score_of(shape.rule, head, q, k.data + j * k.stride, dim);
  weigh_scores(shape.rule, shape.attention.scale, row, seen.to - seen.from);
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(score_attention_step);
KERNEL_EXPORT(weights_of_row);

void score_attention_step(const AttentionStep& a, const ScoreRule& rule, ThreadPool* pool) {
  KERNEL_CALL(score_attention_step)(a, rule, pool);
}

void score_attention_weights(const ScoreShape& shape, Rows q, Rows k, int64_t segment, int64_t head, float* w) {
  const AttentionShape& x = shape.attention;
  const int64_t n = x.queries->length(segment), m = x.keys->length(segment), head_kv = head / (x.heads / x.heads_kv);
  k.data += x.keys->begin(segment) * k.stride + head_kv * x.dim;
  std::vector<float> row(static_cast<size_t>(m + 16));
  for (int64_t i = 0; i < n; ++i) {
    const Mask::Range seen = x.mask.keys_of(i, n, m, segment);
    const float* qi = q.data + (x.queries->begin(segment) + i) * q.stride + head * x.dim;
    KERNEL_CALL(weights_of_row)(shape, head, qi, k, seen, row.data());
    std::fill_n(w + i * m, m, 0.0f);
    std::copy_n(row.data(), seen.to - seen.from, w + i * m + seen.from);
  }
}

}  // namespace attune::kernels
#endif
