#include "kernels/candidates.h"

#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/candidates.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/math.h"

KERNELS_BEGIN

HWY_INLINE float max_of_row(const float* x, int64_t n) {
  auto most = splat(-INFINITY);
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto v = load_at(x + j, count);
    most = max(most, count == 16 ? v : first_n(v, count, most));
  });
  return max_of(most);
}

/// log of the sum of exp(x - top).
HWY_INLINE float log_sum(const float* x, int64_t n, float top) {
  const auto by = splat(top);
  auto total = zero<float>();
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto e = exp(load_at(x + j, count) - by);
    total = total + (count == 16 ? e : first_n(e, count, zero<float>()));
  });
  return log2_of(sum(total)) * 0.69314718056f;
}

HWY_INLINE bool any_greater(const Pack<float>& x, const FVec& bound) {
  bool any = false;
#if HWY_TARGET != HWY_SCALAR
#pragma GCC unroll 4
#endif
  for (int i = 0; i < kRegs; ++i) any |= !hn::AllFalse(F(), hn::Gt(x.r[i], bound));
  return any;
}

/// Keeps the k largest seen so far in order. Few columns of a row get past the k-th of those before them.
HWY_INLINE void insert(float x, int32_t id, int64_t k, float* values, int32_t* ids) {
  int64_t at = k - 1;
  for (; at > 0 && values[at - 1] < x; --at) {
    values[at] = values[at - 1];
    ids[at] = ids[at - 1];
  }
  values[at] = x;
  ids[at] = id;
}

void candidates_of_row(const Candidates& a, int64_t i) {
  float* x = a.x.row<float>(i);
  const int64_t n = a.x.cols(), k = a.ids.cols();
  const float top = max_of_row(x, n), log_total = log_sum(x, n, top);
  for (const int32_t j : a.hidden) x[j] = -INFINITY;
  float* values = a.log_probs.row<float>(i);
  int32_t* ids = a.ids.row<int32_t>(i);
  for (int64_t j = 0; j < k; ++j) {
    values[j] = -INFINITY;
    ids[j] = -1;
  }
  FVec bound = hn::Set(F(), -INFINITY);
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    if (count == 16 && !any_greater(load(x + j), bound)) return;
    for (int64_t c = j; c < j + count; ++c)
      if (x[c] > values[k - 1]) insert(x[c], static_cast<int32_t>(c), k, values, ids);
    bound = hn::Set(F(), values[k - 1]);
  });
  for (int64_t j = 0; j < k; ++j)
    if (ids[j] >= 0) values[j] = (values[j] - top) - log_total;
}

void candidates(const Candidates& a, ThreadPool* pool) {
  for_row_blocks(pool, a.x.rows(), a.x.cols(), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) candidates_of_row(a, i);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(candidates);
void candidates(const Candidates& a, ThreadPool* pool) { KERNEL_CALL(candidates)(a, pool); }

}  // namespace attune::kernels
#endif
