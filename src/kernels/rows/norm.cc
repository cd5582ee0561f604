#include "kernels/rows/norm.h"

#include <algorithm>

#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/rows/norm.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/dropout.h"

KERNELS_BEGIN

/// Row r of the sum, its mean (0 for rms) and 1 / sigma. The row stays in L1 between its passes.
template <bool kLayer, bool kResidual, bool kDrop>
HWY_INLINE void norm_row(const ResidualNorm& a, int64_t r) {
  const int64_t d = a.x.cols();
  const float per_row = 1.0f / static_cast<float>(d);
  const float* x = a.x.row<float>(r);
  const float* row = x;
  auto total = zero<float>();  // of the elements, or of their squares for rms
  if constexpr (kResidual) {
    const float* s = a.s.row<float>(r);
    float* to = a.sum.row<float>(r);
    row = to;
    DropoutSweep drop(a.dropout, r);
    for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
      auto v = load_at(s + j, count);
      if constexpr (kDrop) v = drop.apply(v, j);
      v = v + load_at(x + j, count);
      store_at(v, to + j, count);
      total = kLayer ? total + v : fma(v, v, total);
    });
  } else {
    for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto v = load_at(x + j, count);
      total = kLayer ? total + v : fma(v, v, total);
    });
  }
  float mean = 0;
  if constexpr (kLayer) {
    mean = sum(total) * per_row;
    const auto centre = splat(mean);
    total = zero<float>();
    for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
      auto v = load_at(row + j, count) - centre;
      if (count < 16) v = first_n(v, count, zero<float>());
      total = fma(v, v, total);
    });
  }
  const float variance = sum(total) * per_row;
  const float inverse = 1.0f / std::sqrt(variance + a.epsilon);
  const auto centre = splat(mean), factor = splat(inverse);
  float* y = a.y.row<float>(r);
  if (a.beta)
    for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto v = (load_at(row + j, count) - centre) * factor;
      store_at(fma(v, load_at(a.gamma + j, count), load_at(a.beta + j, count)), y + j, count);
    });
  else
    for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto v = (load_at(row + j, count) - centre) * factor;
      store_at(v * load_at(a.gamma + j, count), y + j, count);
    });
  if (a.mean) a.mean[r] = mean;
  if (a.inverse) a.inverse[r] = inverse;
}

template <bool kLayer>
void norm_rows(const ResidualNorm& a, int64_t from, int64_t to) {
  if (!a.s)
    for (int64_t r = from; r < to; ++r) norm_row<kLayer, false, false>(a, r);
  else if (!a.dropout.on())
    for (int64_t r = from; r < to; ++r) norm_row<kLayer, true, false>(a, r);
  else
    for (int64_t r = from; r < to; ++r) norm_row<kLayer, true, true>(a, r);
}

void residual_norm(const ResidualNorm& a, ThreadPool* pool) {
  for_row_blocks(pool, a.x.rows(), a.x.cols(), [&](int64_t from, int64_t to) {
    a.kind == Norm::layer ? norm_rows<true>(a, from, to) : norm_rows<false>(a, from, to);
  });
}

/// dgamma and dbeta of kRows rows on the sixteen columns at j: each column is one chain over ascending rows.
template <int kRows>
HWY_INLINE void add_parameters(const ResidualNormBackward& a, int64_t r, int64_t j, int64_t count) {
  auto dgamma = a.dgamma ? load_at(a.dgamma + j, count) : zero<float>();
  auto dbeta = a.dbeta ? load_at(a.dbeta + j, count) : zero<float>();
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    const auto dy = load_at(a.dy.row<float>(r + i) + j, count);
    const auto v = (load_at(a.sum.row<float>(r + i) + j, count) - splat(a.mean[r + i])) * splat(a.inverse[r + i]);
    dgamma = fma(dy, v, dgamma);
    dbeta = dbeta + dy;
  }
  if (a.dgamma) store_at(dgamma, a.dgamma + j, count);
  if (a.dbeta) store_at(dbeta, a.dbeta + j, count);
}

/// With g = dy gamma and v the normalised row: d sum = (g - mean(g) - v mean(g v)) / sigma, without mean(g) for rms.
template <bool kLayer>
void backward_row(const ResidualNormBackward& a, int64_t r) {
  const int64_t d = a.sum.cols();
  const float per_row = 1.0f / static_cast<float>(d);
  const float* x = a.sum.row<float>(r);
  const float* dy = a.dy.row<float>(r);
  const auto centre = splat(a.mean[r]), factor = splat(a.inverse[r]);
  auto total = zero<float>(), dot = zero<float>();
  for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto g = load_at(dy + j, count) * load_at(a.gamma + j, count);  // zero beyond the row
    const auto v = (load_at(x + j, count) - centre) * factor;
    if constexpr (kLayer) total = total + g;
    dot = fma(g, v, dot);
  });
  const auto mean_g = splat(kLayer ? sum(total) * per_row : 0.0f), mean_gv = splat(-(sum(dot) * per_row));
  const float* dsum = a.dsum ? a.dsum.row<float>(r) : nullptr;
  float* dx = a.dx ? a.dx.row<float>(r) : nullptr;
  float* ds = a.ds ? a.ds.row<float>(r) : nullptr;
  const bool on = a.dropout.on();
  DropoutSweep drop(a.dropout, r);
  for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto g = load_at(dy + j, count) * load_at(a.gamma + j, count);
    const auto v = (load_at(x + j, count) - centre) * factor;
    auto out = fma(v, mean_gv, g - mean_g) * factor;
    if (dsum) out = out + load_at(dsum + j, count);
    if (dx) put_at(out, dx + j, count, a.add_x);
    if (ds) put_at(on ? drop.apply(out, j) : out, ds + j, count, a.add_s);
  });
}

/// No gradient came through the norm: only that of the sum goes on.
void pass_row(const ResidualNormBackward& a, int64_t r) {
  DropoutSweep drop(a.dropout, r);
  for_packs(a.sum.cols(), [&](int64_t j, int64_t count) HWY_ATTR {
    const auto out = load_at(a.dsum.row<float>(r) + j, count);
    if (a.dx) put_at(out, a.dx.row<float>(r) + j, count, a.add_x);
    if (a.ds) put_at(a.dropout.on() ? drop.apply(out, j) : out, a.ds.row<float>(r) + j, count, a.add_s);
  });
}

/// The columns [from, to) of dgamma and dbeta over the rows [first, last).
void add_parameter_columns(const ResidualNormBackward& a, int64_t first, int64_t last, int64_t from, int64_t to) {
  if (!a.dgamma && !a.dbeta) return;
  int64_t r = first;
  for (; r + 4 <= last; r += 4)
    for_packs(to - from, [&](int64_t j, int64_t count) HWY_ATTR { add_parameters<4>(a, r, from + j, count); });
  for (; r < last; ++r)
    for_packs(to - from, [&](int64_t j, int64_t count) HWY_ATTR { add_parameters<1>(a, r, from + j, count); });
}

void residual_norm_backward(const ResidualNormBackward& a, ThreadPool* pool) {
  const int64_t n = a.sum.rows(), d = a.sum.cols();
  if (!a.dy)
    return for_row_blocks(pool, n, d, [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) pass_row(a, r);
    });
  if (a.dgamma && !a.add_gamma) std::fill(a.dgamma, a.dgamma + d, 0.0f);
  if (a.dbeta && !a.add_beta) std::fill(a.dbeta, a.dbeta + d, 0.0f);
  const auto one_row = [&](int64_t r) {
    if (a.dx || a.ds) a.kind == Norm::layer ? backward_row<true>(a, r) : backward_row<false>(a, r);
  };
  if (worth_a_pool(pool, n * d)) {
    for_row_blocks(pool, n, d, [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) one_row(r);
    });
    // As wide as the workers allow, for long runs of memory; where columns are cut does not change their chains.
    const int64_t each = std::max<int64_t>(64, (d / workers_of(pool) + 15) / 16 * 16);
    return for_blocks(pool, d, each, n * d,
                      [&](int64_t from, int64_t to) { add_parameter_columns(a, 0, n, from, to); });
  }
  // On one thread four rows are still in L1 when their share of dgamma and dbeta is added.
  for (int64_t r = 0; r < n; r += 4) {
    const int64_t last = std::min(n, r + 4);
    for (int64_t i = r; i < last; ++i) one_row(i);
    add_parameter_columns(a, r, last, 0, d);
  }
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(residual_norm);
KERNEL_EXPORT(residual_norm_backward);

void residual_norm(const ResidualNorm& a, ThreadPool* pool) { KERNEL_CALL(residual_norm)(a, pool); }
void residual_norm_backward(const ResidualNormBackward& a, ThreadPool* pool) {
  KERNEL_CALL(residual_norm_backward)(a, pool);
}

}  // namespace attune::kernels
#endif
