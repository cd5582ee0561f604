#include "kernels/optimizer/sgd.h"

#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/optimizer/sgd.cc"
#include "kernels/simd.h"

KERNELS_BEGIN

void sgd(const SgdStep& s, const SgdArrays<float>& a, ThreadPool* pool) {
  const auto momentum = splat(static_cast<float>(s.momentum)), grad = splat(static_cast<float>(s.grad_factor));
  const auto keep = splat(static_cast<float>(1 - s.rate * s.decay)), rate = splat(static_cast<float>(-s.rate));
  for_blocks(pool, a.count, kBlockWork, a.count, [&](int64_t from, int64_t to) HWY_ATTR {
    float* HWY_RESTRICT p = a.parameters + from;
    const float* HWY_RESTRICT gradients = a.gradients + from;
    float* HWY_RESTRICT velocity = a.velocity ? a.velocity + from : nullptr;
    for_packs(to - from, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto g = load_at(gradients + j, count) * grad;
      auto change = g;
      if (velocity) {
        const auto v = fma(load_at(velocity + j, count), momentum, g);
        store_at(v, velocity + j, count);
        change = s.nesterov ? fma(v, momentum, g) : v;
      }
      store_at(fma(change, rate, load_at(p + j, count) * keep), p + j, count);
    });
  });
}

void move_average(float* average, const float* now, int64_t n, float share, ThreadPool* pool) {
  const auto part = splat(share);
  for_blocks(pool, n, kBlockWork, n, [&](int64_t from, int64_t to) HWY_ATTR {
    for_packs(to - from, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto a = load_at(average + from + j, count);
      store_at(fma(load_at(now + from + j, count) - a, part, a), average + from + j, count);
    });
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(sgd);
KERNEL_EXPORT(move_average);

void sgd(const SgdStep& s, const SgdArrays<float>& a, ThreadPool* pool) { KERNEL_CALL(sgd)(s, a, pool); }

void sgd_reference(const SgdStep& s, const SgdArrays<double>& a) {
  for (int64_t i = 0; i < a.count; ++i) {
    const double g = a.gradients[i] * s.grad_factor;
    double change = g;
    if (a.velocity) {
      double& v = a.velocity[i];
      v = s.momentum * v + g;
      change = s.nesterov ? g + s.momentum * v : v;
    }
    a.parameters[i] -= s.rate * s.decay * a.parameters[i] + s.rate * change;
  }
}

void move_average(float* average, const float* now, int64_t n, double share, ThreadPool* pool) {
  KERNEL_CALL(move_average)(average, now, n, static_cast<float>(share), pool);
}

}  // namespace attune::kernels
#endif
