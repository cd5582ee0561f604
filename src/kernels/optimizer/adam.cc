#include "kernels/optimizer/adam.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/optimizer/adam.cc"
#include "kernels/simd.h"

#ifndef ATTUNE_ADAM_ONCE
#define ATTUNE_ADAM_ONCE
namespace attune::kernels {
namespace {

/// The factors of one step, formed in double.
template <class T>
struct AdamFactors {
  T beta1, beta2, rest1, rest2;  // rest is 1 - beta
  T grad, keep, rate, second, epsilon;
  explicit AdamFactors(const AdamStep& s)
      : beta1(static_cast<T>(s.beta1)),
        beta2(static_cast<T>(s.beta2)),
        rest1(static_cast<T>(1 - s.beta1)),
        rest2(static_cast<T>(1 - s.beta2)),
        grad(static_cast<T>(s.grad_factor)),
        keep(static_cast<T>(1 - s.rate * s.decay)),
        rate(static_cast<T>(s.rate / (1 - portable::pow(s.beta1, static_cast<double>(s.step))))),
        second(static_cast<T>(1 / (1 - portable::pow(s.beta2, static_cast<double>(s.step))))),
        epsilon(static_cast<T>(s.epsilon)) {}
};

constexpr int64_t kNormBlock = 4096;

/// The sum of part(from) ... part(to - 1), as a binary tree whose left side is the largest power of two: blocks
/// grouped by any power of two are then whole branches of it.
template <class Part>
double tree_sum(int64_t from, int64_t to, const Part& part) {
  if (to - from == 1) return part(from);
  const auto half = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(to - from - 1)));
  const double left = tree_sum(from, from + half, part);
  return left + tree_sum(from + half, to, part);
}

}  // namespace
}  // namespace attune::kernels
#endif

KERNELS_BEGIN

void adam_range(const AdamFactors<float>& f, const AdamArrays<float>& a, int64_t from, int64_t to) {
  const auto beta1 = splat(f.beta1), beta2 = splat(f.beta2), rest1 = splat(f.rest1), rest2 = splat(f.rest2);
  const auto grad = splat(f.grad), keep = splat(f.keep), rate = splat(-f.rate), second = splat(f.second);
  const auto epsilon = splat(f.epsilon);
  float* HWY_RESTRICT p = a.parameters + from;
  float* HWY_RESTRICT first = a.first + from;
  float* HWY_RESTRICT squares = a.second + from;
  const float* HWY_RESTRICT gradients = a.gradients + from;
  for_packs(to - from, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto g = load_at(gradients + j, count) * grad;
    const auto m = fma(load_at(first + j, count), beta1, g * rest1);
    const auto v = fma(load_at(squares + j, count), beta2, g * g * rest2);
    store_at(m, first + j, count);
    store_at(v, squares + j, count);
    const auto change = m / (sqrt(v * second) + epsilon);
    store_at(fma(change, rate, load_at(p + j, count) * keep), p + j, count);
  });
}

void adam(const AdamFactors<float>& f, const AdamArrays<float>& a, ThreadPool* pool) {
  for_blocks(pool, a.count, kBlockWork, a.count, [&](int64_t from, int64_t to) { adam_range(f, a, from, to); });
}

float block_square_norm(const float* x, int64_t n) {
  auto total = zero<float>();
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto v = load_at(x + j, count);
    total = fma(v, v, total);
  });
  return sum(total);
}

double square_norm(const float* x, int64_t n, ThreadPool* pool) {
  const int64_t blocks = (n + kNormBlock - 1) / kNormBlock;
  const auto one_block = [&](int64_t b) {
    return static_cast<double>(block_square_norm(x + b * kNormBlock, std::min(kNormBlock, n - b * kNormBlock)));
  };
  if (blocks == 0) return 0;
  if (!worth_a_pool(pool, n)) return tree_sum(0, blocks, one_block);
  constexpr int64_t kMaxGroups = 256;
  double groups[kMaxGroups];
  int64_t each = 8;  // blocks of a group: a power of two, so that groups are branches of the tree
  while (blocks > each * kMaxGroups) each *= 2;
  const int64_t count = (blocks + each - 1) / each;
  parallel_for(pool, count,
               [&](int64_t g, int) { groups[g] = tree_sum(g * each, std::min(blocks, (g + 1) * each), one_block); });
  return tree_sum(0, count, [&](int64_t g) { return groups[g]; });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(adam);
KERNEL_EXPORT(square_norm);

void adam(const AdamStep& s, const AdamArrays<float>& a, ThreadPool* pool) {
  check(s.step >= 1, "adam", "steps count from 1, this is {}", s.step);
  KERNEL_CALL(adam)(AdamFactors<float>(s), a, pool);
}

void adam_reference(const AdamStep& s, const AdamArrays<double>& a) {
  const auto t = static_cast<double>(s.step);
  for (int64_t i = 0; i < a.count; ++i) {
    const double g = a.gradients[i] * s.grad_factor;
    double &m = a.first[i], &v = a.second[i], &p = a.parameters[i];
    m = s.beta1 * m + (1 - s.beta1) * g;
    v = s.beta2 * v + (1 - s.beta2) * g * g;
    const double m_hat = m / (1 - portable::pow(s.beta1, t)), v_hat = v / (1 - portable::pow(s.beta2, t));
    p -= s.rate * s.decay * p + s.rate * m_hat / (std::sqrt(v_hat) + s.epsilon);
  }
}

double square_norm(const float* x, int64_t n, ThreadPool* pool) {
  FlushDenormals flushed;
  return HWY_DYNAMIC_DISPATCH(square_norm)(x, n, pool);
}

}  // namespace attune::kernels
#endif
