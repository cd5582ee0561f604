#include "kernels/optimizer/adafactor.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/optimizer/adam.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/optimizer/adafactor.cc"
#include "kernels/simd.h"

#ifndef ATTUNE_ADAFACTOR_ONCE
#define ATTUNE_ADAFACTOR_ONCE
namespace attune::kernels {
namespace {

/// The factors of one step, formed in double.
struct AdafactorFactors {
  float grad, beta2, rest2, epsilon1, keep;
  double rate, threshold;  // the rate relative to the weights, if that is wanted
  AdafactorFactors(const AdafactorStep& s, double rms)
      : grad(static_cast<float>(s.grad_factor)),
        beta2(static_cast<float>(s.beta2)),
        rest2(static_cast<float>(1 - s.beta2)),
        epsilon1(static_cast<float>(s.epsilon1)),
        keep(static_cast<float>(1 - s.rate * s.decay)),
        rate(s.rate * (s.relative ? std::max(s.epsilon2, rms) : 1)),
        threshold(s.threshold) {}
};

constexpr int64_t kRowsOfASum = 64;  // longer chains of additions lose digits

}  // namespace
}  // namespace attune::kernels
#endif

KERNELS_BEGIN

/// Moments of rows, [from, to).
void adafactor_rows(const AdafactorFactors& f, const AdafactorMatrix<float>& a, int64_t from, int64_t to) {
  const auto grad = splat(f.grad);
  for (int64_t r = from; r < to; ++r) {
    auto total = zero<float>();
    for_packs(a.m, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto g = load_at(a.gradients + r * a.m + j, count) * grad;
      total = fma(g, g, total);
    });
    const float mean = sum(total) / static_cast<float>(a.m) + f.epsilon1;
    a.rows[r] = f.beta2 * a.rows[r] + f.rest2 * mean;
  }
}

/// Moments of columns, and 1 / sqrt of them to `scale`, [from, to).
void adafactor_columns(const AdafactorFactors& f, const AdafactorMatrix<float>& a, float* scale, int64_t from,
                       int64_t to) {
  const auto grad = splat(f.grad), beta2 = splat(f.beta2), rest2 = splat(f.rest2), epsilon = splat(f.epsilon1);
  const auto rows = splat(static_cast<float>(a.n)), one = splat(1.0f);
  for_packs(to - from, [&](int64_t j, int64_t count) HWY_ATTR {
    const int64_t c = from + j;
    auto total = zero<float>();
    for (int64_t r = 0; r < a.n;) {
      auto part = zero<float>();
      for (const int64_t end = std::min(a.n, r + kRowsOfASum); r < end; ++r) {
        const auto g = load_at(a.gradients + r * a.m + c, count) * grad;
        part = fma(g, g, part);
      }
      total = total + part;
    }
    const auto moment = fma(load_at(a.columns + c, count), beta2, (total / rows + epsilon) * rest2);
    store_at(moment, a.columns + c, count);
    store_at(one / sqrt(moment), scale + c, count);
  });
}

/// Sums of squares of the update's rows, [from, to), to `sums`, which holds the factors of rows.
void adafactor_squares(const AdafactorFactors& f, const AdafactorMatrix<float>& a, const float* scale, float* sums,
                       int64_t from, int64_t to) {
  for (int64_t r = from; r < to; ++r) {
    const auto row = splat(f.grad * sums[r]);
    auto total = zero<float>();
    for_packs(a.m, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto u = load_at(a.gradients + r * a.m + j, count) * row * load_at(scale + j, count);
      total = fma(u, u, total);
    });
    sums[r] = sum(total);
  }
}

/// What a row of gradients is multiplied by: one over the root of its part of V = R C / mean(R).
HWY_INLINE float row_scale(const AdafactorMatrix<float>& a, float mean, int64_t r) {
  return a.rows ? std::sqrt(mean) / std::sqrt(a.rows[r]) : 1.0f;  // the quotient may be too large
}

void adafactor_apply(const AdafactorFactors& f, const AdafactorMatrix<float>& a, float mean, double rate, int64_t from,
                     int64_t to) {
  const auto keep = splat(f.keep), step = splat(static_cast<float>(-rate));
  for (int64_t r = from; r < to; ++r) {
    const auto row = splat(f.grad * row_scale(a, mean, r));
    float* p = a.parameters + r * a.m;
    for_packs(a.m, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto u = load_at(a.gradients + r * a.m + j, count) * row * load_at(a.scratch + j, count);
      store_at(fma(u, step, load_at(p + j, count) * keep), p + j, count);
    });
  }
}

void adafactor(const AdafactorFactors& f, const AdafactorMatrix<float>& a, ThreadPool* pool) {
  float *scale = a.scratch, *sums = a.scratch + a.m;
  if (a.rows) for_row_blocks(pool, a.n, a.m, [&](int64_t from, int64_t to) { adafactor_rows(f, a, from, to); });
  for_blocks(pool, a.m, kColumnBlock, a.n * a.m,
             [&](int64_t from, int64_t to) { adafactor_columns(f, a, scale, from, to); });
  double mean = 0;
  if (a.rows)
    for (int64_t r = 0; r < a.n; ++r) mean += static_cast<double>(a.rows[r]);
  const auto row_mean = static_cast<float>(mean / static_cast<double>(a.n));
  for (int64_t r = 0; r < a.n; ++r) sums[r] = row_scale(a, row_mean, r);
  for_row_blocks(pool, a.n, a.m, [&](int64_t from, int64_t to) { adafactor_squares(f, a, scale, sums, from, to); });
  double squares = 0;
  for (int64_t r = 0; r < a.n; ++r) squares += static_cast<double>(sums[r]);
  const double rms = std::sqrt(squares / static_cast<double>(a.n * a.m));
  const double rate = f.rate / std::max(1.0, rms / f.threshold);
  for_row_blocks(pool, a.n, a.m, [&](int64_t from, int64_t to) { adafactor_apply(f, a, row_mean, rate, from, to); });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(adafactor);

void adafactor(const AdafactorStep& s, const AdafactorMatrix<float>& a, ThreadPool* pool) {
  if (a.n * a.m == 0) return;
  const double rms =
      s.relative ? std::sqrt(square_norm(a.parameters, a.n * a.m, pool) / static_cast<double>(a.n * a.m)) : 0;
  KERNEL_CALL(adafactor)(AdafactorFactors(s, rms), a, pool);
}

void adafactor_reference(const AdafactorStep& s, const AdafactorMatrix<double>& a) {
  const auto n = static_cast<size_t>(a.n), m = static_cast<size_t>(a.m);
  const auto count = static_cast<double>(n * m);
  const double keep = s.beta2, rest = 1 - s.beta2;
  const auto g = [&](size_t i, size_t j) { return a.gradients[i * m + j] * s.grad_factor; };
  std::vector<double> rows(n), columns(m), u(n * m);
  double weights = 0, all = 0, squares = 0;
  for (size_t i = 0; i < n * m; ++i) weights += a.parameters[i] * a.parameters[i];
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) {
      rows[i] += g(i, j) * g(i, j) + s.epsilon1;
      columns[j] += g(i, j) * g(i, j) + s.epsilon1;
    }
  for (size_t j = 0; j < m; ++j) a.columns[j] = keep * a.columns[j] + rest * columns[j] / static_cast<double>(n);
  for (size_t i = 0; a.rows && i < n; ++i) a.rows[i] = keep * a.rows[i] + rest * rows[i] / static_cast<double>(m);
  for (size_t i = 0; a.rows && i < n; ++i) all += a.rows[i];
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) {
      const double v = a.rows ? a.rows[i] * a.columns[j] * static_cast<double>(n) / all : a.columns[j];
      u[i * m + j] = g(i, j) / std::sqrt(v);
      squares += u[i * m + j] * u[i * m + j];
    }
  const double scale = s.relative ? std::max(s.epsilon2, std::sqrt(weights / count)) : 1;
  const double clipped = std::max(1.0, std::sqrt(squares / count) / s.threshold);
  for (size_t i = 0; i < n * m; ++i)
    a.parameters[i] -= s.rate * s.decay * a.parameters[i] + s.rate * scale * u[i] / clipped;
}

}  // namespace attune::kernels
#endif
