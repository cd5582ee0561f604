#include "kernels/attention_step.h"

#include <algorithm>

#define KERNELS_FILE "kernels/attention_step.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/math.h"
#include "kernels/step_rows.h"

KERNELS_BEGIN

/// Scores become weights, in place; what lies between n and the next whole pack becomes 0.
HWY_INLINE void soften(float* s, int64_t n, float factor) {
  const int64_t padded = (n + 15) / 16 * 16;
  std::fill(s + n, s + padded, -INFINITY);
  auto most = load(s);
  for (int64_t j = 16; j < padded; j += 16) most = max(most, load(s + j));
  const auto by = splat(factor), shift = splat(-max_of(most) * factor);
  auto total = zero<float>();
  for (int64_t j = 0; j < padded; j += 16) {
    const auto p = exp2(fma(load(s + j), by, shift));
    total = total + p;
    store(p, s + j);
  }
  const auto each_weight = splat(1.0f / sum(total));
  for (int64_t j = 0; j < padded; j += 16) store(load(s + j) * each_weight, s + j);
}

void attend(const AttentionStep& a, int64_t i, const StepSpace& w) {
  constexpr float kLog2E = 1.44269504f;
  const int64_t n = find_keys(a, i, w), group = a.heads / a.heads_kv;
  float* out = a.out.data + i * a.out.stride;
  if (n == 0) {
    std::fill_n(out, a.heads * a.dim, 0.0f);
    return;
  }
  for (int64_t h = 0; h < a.heads; ++h) {
    const int64_t column = h / group * a.dim;
    const float* q = a.q.data + i * a.q.stride + h * a.dim;
    for (int64_t j = 0; j < n; ++j) w.scores[j] = dot(q, w.keys[j] + column, a.dim);
    soften(w.scores, n, a.scale * kLog2E);
    int64_t d = 0;
    for (; d + 64 <= a.dim; d += 64) weighted_sum<4>(w, n, column + d, out + h * a.dim + d);
    for (; d + 32 <= a.dim; d += 32) weighted_sum<2>(w, n, column + d, out + h * a.dim + d);
    for_packs(a.dim - d, [&](int64_t j, int64_t count)
                             HWY_ATTR { weighted_sum_n(w, n, column + d + j, out + h * a.dim + d + j, count); });
  }
}

void attention_step(const AttentionStep& a, ThreadPool* pool) {
  const int64_t work = 2 * a.heads * a.dim * std::max<int64_t>(a.longest, 1), each = rows_per_block(work);
  const int64_t bytes = attention_step_scratch(a.longest, 1), padded = (a.longest + 15) / 16 * 16;
  if (!worth_a_pool(pool, a.rows * work)) pool = nullptr;
  parallel_for(pool, (a.rows + each - 1) / each, [&](int64_t block, int worker) {
    char* mine = static_cast<char*>(a.scratch) + worker * bytes;
    StepSpace w;
    w.scores = reinterpret_cast<float*>(mine);
    w.keys = reinterpret_cast<const float**>(w.scores + padded);
    w.values = w.keys + padded;
    for (int64_t i = block * each; i < std::min(a.rows, (block + 1) * each); ++i) attend(a, i, w);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(attention_step);
void attention_step(const AttentionStep& a, ThreadPool* pool) { KERNEL_CALL(attention_step)(a, pool); }

int64_t attention_step_scratch(int64_t longest, int workers) {
  const int64_t padded = std::max<int64_t>(16, (longest + 15) / 16 * 16);
  return workers * padded * static_cast<int64_t>(sizeof(float) + 2 * sizeof(const float*));
}

}  // namespace attune::kernels
#endif
