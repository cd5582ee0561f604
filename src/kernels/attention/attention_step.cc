#include "kernels/attention/attention_step.h"

#include <algorithm>

#define KERNELS_FILE "kernels/attention/attention_step.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/attention/step_rows.h"
#include "kernels/math.h"

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
  const int64_t n = find_keys(a, i, w), group = a.heads / a.heads_kv, positions = a.positions ? a.positions : n;
  const auto place = static_cast<int32_t>(positions - 1);
  float* out = a.out.data + i * a.out.stride;
  if (n == 0) {
    std::fill_n(out, a.heads * a.dim, 0.0f);
    return;
  }
  for (int64_t h = 0; h < a.heads; ++h) {
    const int64_t column = h / group * a.dim;
    const float* q = a.q.data + i * a.q.stride + h * a.dim;
    dots(w, n, q, column, a.dim, h + 1 < a.heads && (h + 1) % group == 0);
    ScoreTile tile{i, h, positions, positions, positions - 1, positions - n, 1, n, n, q, a.dim, a.dim, a.scale, w.hook};
    if (a.key_places) {
      tile.query_places = {&place, 1};
      tile.key_places = {a.key_places, 1};
    }
    if (a.hook) {
      for (int64_t j = 0; j < n; ++j) w.scores[j] *= a.scale;
      a.hook->scores(tile, a.tables, w.scores);
    }
    soften(w.scores, n, a.hook ? kLog2E : a.scale * kLog2E);
    weighted_sums(w, n, column, a.dim, out + h * a.dim);
    if (a.hook) a.hook->values(tile, a.tables, w.scores, out + h * a.dim, a.dim);
  }
}

void attention_step(const AttentionStep& a, ThreadPool* pool) {
  for_step_rows(a, pool, [&](int64_t i, const StepSpace& w) HWY_ATTR { attend(a, i, w); });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(attention_step);
void attention_step(const AttentionStep& a, ThreadPool* pool) { KERNEL_CALL(attention_step)(a, pool); }

int64_t attention_step_scratch(int64_t longest, int workers, const TileHook* hook, int64_t dim) {
  const int64_t padded = std::max<int64_t>(16, (longest + 15) / 16 * 16);
  const int64_t hooks = hook ? (hook->scratch(dim) + 15) / 16 * 16 : 0;
  return workers * (padded * static_cast<int64_t>(sizeof(float) + 2 * sizeof(const float*)) +
                    hooks * static_cast<int64_t>(sizeof(float)));
}

}  // namespace attune::kernels
#endif
