#include "kernels/attention_step.h"

#include <algorithm>

#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/attention_step.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/math.h"

KERNELS_BEGIN

/// What one worker needs: where a row's keys and values lie, and its scores.
struct StepSpace {
  const float **keys, **values;  // [longest]
  float* scores;                 // [longest], whole packs
  float* hook;
};

/// Lists where the keys and values of row i are. Returns how many there are.
HWY_INLINE int64_t find_keys(const AttentionStep& a, int64_t i, const StepSpace& w) {
  if (a.ids) {
    for (int64_t j = 0; j < a.longest; ++j) {
      const int64_t id = a.ids[j * a.rows + i];
      w.keys[j] = a.keys.row(id);
      w.values[j] = a.values.row(id);
    }
    return a.longest;
  }
  const int64_t n = a.count[i];
  for (int64_t j = 0; j < n; ++j) {
    w.keys[j] = a.keys.row(a.first[i] + j);
    w.values[j] = a.values.row(a.first[i] + j);
  }
  return n;
}

HWY_INLINE float dot(const float* x, const float* y, int64_t dim) {
  auto total = zero<float>();
  for_packs(dim, [&](int64_t d, int64_t count)
                     HWY_ATTR { total = fma(load_at(x + d, count), load_at(y + d, count), total); });
  return sum(total);
}

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

/// out[c] = sum over j of weight_j value_j[column + c], one chain a column; several packs at once hide the latency.
template <int P>
HWY_INLINE void weighted_sum(const StepSpace& w, int64_t n, int64_t column, float* out) {
  Pack<float> total[P];
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) total[p] = zero<float>();
  for (int64_t j = 0; j < n; ++j) {
    const auto weight = splat(w.scores[j]);
    const float* v = w.values[j] + column;
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) total[p] = fma(weight, load(v + 16 * p), total[p]);
  }
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) store(total[p], out + 16 * p);
}
HWY_INLINE void weighted_sum_n(const StepSpace& w, int64_t n, int64_t column, float* out, int64_t count) {
  auto total = zero<float>();
  for (int64_t j = 0; j < n; ++j) total = fma(splat(w.scores[j]), load_at(w.values[j] + column, count), total);
  store_at(total, out, count);
}

void attend(const AttentionStep& a, int64_t i, const StepSpace& w) {
  constexpr float kLog2E = 1.44269504f;
  const int64_t n = find_keys(a, i, w), group = a.heads / a.heads_kv, positions = a.positions ? a.positions : n;
  float* out = a.out.data + i * a.out.stride;
  if (n == 0) {
    std::fill_n(out, a.heads * a.dim, 0.0f);
    return;
  }
  for (int64_t h = 0; h < a.heads; ++h) {
    const int64_t column = h / group * a.dim;
    const float* q = a.q.data + i * a.q.stride + h * a.dim;
    for (int64_t j = 0; j < n; ++j) w.scores[j] = dot(q, w.keys[j] + column, a.dim);
    const ScoreTile tile{i, h, positions, positions, positions - 1, positions - n, 1,
                         n, n, q,         a.dim,     a.dim,         a.scale,       w.hook};
    if (a.hook) {
      for (int64_t j = 0; j < n; ++j) w.scores[j] *= a.scale;
      a.hook->scores(tile, a.tables, w.scores);
    }
    soften(w.scores, n, a.hook ? kLog2E : a.scale * kLog2E);
    int64_t d = 0;
    for (; d + 64 <= a.dim; d += 64) weighted_sum<4>(w, n, column + d, out + h * a.dim + d);
    for (; d + 32 <= a.dim; d += 32) weighted_sum<2>(w, n, column + d, out + h * a.dim + d);
    for_packs(a.dim - d, [&](int64_t j, int64_t count)
                             HWY_ATTR { weighted_sum_n(w, n, column + d + j, out + h * a.dim + d + j, count); });
    if (a.hook) a.hook->values(tile, a.tables, w.scores, out + h * a.dim, a.dim);
  }
}

void attention_step(const AttentionStep& a, ThreadPool* pool) {
  const int64_t work = 2 * a.heads * a.dim * std::max<int64_t>(a.longest, 1), each = rows_per_block(work);
  const int64_t bytes = attention_step_scratch(a.longest, 1, a.hook, a.dim), padded = (a.longest + 15) / 16 * 16;
  if (!worth_a_pool(pool, a.rows * work)) pool = nullptr;
  parallel_for(pool, (a.rows + each - 1) / each, [&](int64_t block, int worker) {
    char* mine = static_cast<char*>(a.scratch) + worker * bytes;
    StepSpace w;
    w.scores = reinterpret_cast<float*>(mine);
    w.keys = reinterpret_cast<const float**>(w.scores + padded);
    w.values = w.keys + padded;
    w.hook = reinterpret_cast<float*>(w.values + padded);
    for (int64_t i = block * each; i < std::min(a.rows, (block + 1) * each); ++i) attend(a, i, w);
  });
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
