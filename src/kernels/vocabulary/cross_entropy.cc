#include "kernels/vocabulary/cross_entropy.h"

#define KERNELS_FILE "kernels/vocabulary/cross_entropy.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/math.h"

KERNELS_BEGIN

/// One row. Three passes over it while it is in cache: the maximum and the sum, the exponentials, the gradient.
void cross_entropy_row(const CrossEntropy& c, int64_t row) {
  float* z = c.logits + row * c.stride;
  const int64_t n = c.classes, t = c.targets[row];
  if (t < 0) {
    c.losses[row] = 0;
    if (c.log_probs) c.log_probs[row] = 0;
    if (c.gradient) for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR { store_at(zero<float>(), z + j, count); });
    return;
  }
  auto most = splat(-INFINITY), all = zero<float>();
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto v = load_at(z + j, count);
    most = max(most, count == 16 ? v : first_n(v, count, splat(-INFINITY)));
    all = all + v;
  });
  const float row_max = max_of(most), target_logit = z[t];
  const float log2_e = 1.44269504f, ln_2 = 0.69314718f;
  const auto by = splat(log2_e), shift = splat(-row_max * log2_e);
  auto total = zero<float>();
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    auto p = exp2(fma(load_at(z + j, count), by, shift));
    if (count < 16) p = first_n(p, count, zero<float>());
    total = total + p;
    if (c.gradient) store_at(p, z + j, count);
  });
  const float exp_sum = sum(total), log_sum = row_max + log2_of(exp_sum) * ln_2;
  const float mean_logit = sum(all) / static_cast<float>(n);
  const float weight = c.weights ? c.weights[row] : 1, scale = weight * c.scale;
  c.losses[row] = weight * (log_sum - (1 - c.smoothing) * target_logit - c.smoothing * mean_logit);
  if (c.log_probs) c.log_probs[row] = target_logit - log_sum;
  if (!c.gradient) return;
  const auto share = splat(scale / exp_sum), even = splat(-scale * c.smoothing / static_cast<float>(n));
  for_packs(
      n, [&](int64_t j, int64_t count) HWY_ATTR { store_at(fma(load_at(z + j, count), share, even), z + j, count); });
  z[t] -= scale * (1 - c.smoothing);
}

void cross_entropy(const CrossEntropy& c, ThreadPool* pool) {
  constexpr int64_t kRows = 8;
  parallel_for(c.rows * c.classes < 32768 ? nullptr : pool, (c.rows + kRows - 1) / kRows, [&](int64_t block, int) {
    for (int64_t r = block * kRows; r < c.rows && r < (block + 1) * kRows; ++r) cross_entropy_row(c, r);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {
KERNEL_EXPORT(cross_entropy);
void cross_entropy(const CrossEntropy& c, ThreadPool* pool) { KERNEL_CALL(cross_entropy)(c, pool); }
}  // namespace attune::kernels
#endif
