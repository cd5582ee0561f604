#include "kernels/vocabulary/candidates.h"

#include <algorithm>

#include "kernels/row_blocks.h"
#include "kernels/vocabulary/draw_columns.h"

#define KERNELS_FILE "kernels/vocabulary/candidates.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/math.h"

KERNELS_BEGIN

HWY_INLINE float largest_in_row(const float* x, int64_t n) {
  auto most = splat(-INFINITY);
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto v = load_at(x + j, count);
    most = max(most, count == 16 ? v : first_n(v, count, most));
  });
  return max_of(most);
}

/// e^x for x up to 0, to be summed up with e^0: what is below e^-87 counts as that, which is nothing beside 1. So it
/// takes a few steps less than exp().
HWY_INLINE FVec exp_below(FVec x) {
  const F f;
  const auto magic = hn::Set(f, kRounder), log2e = hn::Set(f, 1.44269502f);
  x = hn::Max(x, hn::Set(f, -87.336544f));
  const auto rounded = hn::MulAdd(x, log2e, magic);
  return exp2_part(hn::MulSub(x, log2e, hn::Sub(rounded, magic)), rounded);
}

/// log of the sum of exp(x - top), top being the largest. Meanwhile the row after it, if there is one, comes nearer.
HWY_INLINE float log_sum(const float* x, int64_t n, float top, const float* next = nullptr) {
  const auto by = hn::Set(F(), top);
  auto total = zero<float>();
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto v = load_at(x + j, count);
    if (next) __builtin_prefetch(next + j, 0, 2);
    const auto e = each([&](int i) HWY_ATTR { return exp_below(hn::Sub(v.r[i], by)); });
    total = total + (count == 16 ? e : first_n(e, count, zero<float>()));
  });
  return log2_of(sum(total)) * 0.69314718056f;
}

/// Whether any of so many numbers is greater.
template <int kCount>
HWY_INLINE bool any_greater(const float* x, FVec bound) {
  auto any = hn::Gt(hn::LoadU(F(), x), bound);
#pragma GCC unroll 16
  for (int i = kLanes; i < kCount; i += kLanes) any = hn::Or(any, hn::Gt(hn::LoadU(F(), x + i), bound));
  return !hn::AllFalse(F(), any);
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

/// What is not to be said becomes minus infinity.
HWY_INLINE void leave_unsaid(const Unsaid& u, int64_t i, float* x) {
  for (const int32_t j : u.hidden) x[j] = -INFINITY;
  for (const int32_t j : u.banned_in(i)) x[j] = -INFINITY;
}

/// Asked of the few columns that would be chosen: cheaper than spoiling the row, which is summed afterwards.
HWY_INLINE bool is_unsaid(const Unsaid& u, int64_t i, int32_t column) {
  const auto has = [&](std::span<const int32_t> columns) {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  return has(u.hidden) || has(u.banned_in(i));
}

HWY_INLINE void choose_none(int64_t k, float* values, int32_t* ids) {
  for (int64_t j = 0; j < k; ++j) {
    values[j] = -INFINITY;
    ids[j] = -1;
  }
}

void candidates_of_row(const Candidates& a, int64_t i) {
  float* x = a.x.row<float>(i);
  const int64_t n = a.x.cols(), k = a.ids.cols();
  float* values = a.log_probs.row<float>(i);
  int32_t* ids = a.ids.row<int32_t>(i);
  choose_none(k, values, ids);
  if (const int32_t only = a.unsaid.forced_in(i); only >= 0) {
    if (!(x[only] > -INFINITY)) return;
    const float top = largest_in_row(x, n);
    values[0] = (x[only] - top) - log_sum(x, n, top);
    ids[0] = only;
    return;
  }
  const auto look_at = [&](int64_t from, int64_t to) HWY_ATTR {
    for (int64_t c = from; c < to; ++c)
      if (x[c] > values[k - 1] && !is_unsaid(a.unsaid, i, static_cast<int32_t>(c)))
        insert(x[c], static_cast<int32_t>(c), k, values, ids);
  };
  int64_t j = 0;
  for (; j + 64 <= n; j += 64) {
    if (!any_greater<64>(x + j, hn::Set(F(), values[k - 1]))) continue;
    for (int64_t c = j; c < j + 64; c += 16)
      if (any_greater<16>(x + c, hn::Set(F(), values[k - 1]))) look_at(c, c + 16);
  }
  look_at(j, n);
  if (ids[0] < 0) return;
  // The largest of all is the largest of those that may be said, or of the others: no other walk through the row.
  float top = values[0];
  for (const int32_t c : a.unsaid.hidden) top = std::max(top, x[c]);
  for (const int32_t c : a.unsaid.banned_in(i)) top = std::max(top, x[c]);
  const float log_total = log_sum(x, n, top, i + 1 < a.x.rows() ? a.x.row<float>(i + 1) : nullptr);
  for (int64_t c = 0; c < k; ++c)
    if (ids[c] >= 0) values[c] = (values[c] - top) - log_total;
}

void candidates(const Candidates& a, ThreadPool* pool) {
  for_row_blocks(pool, a.x.rows(), a.x.cols(), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) candidates_of_row(a, i);
  });
}

/// weights = exp((x - top) / temperature); of what is not a number, 0.
HWY_INLINE void weigh_row(const float* x, int64_t n, float top, double temperature, float* weights) {
  const auto by = splat(top), scale = splat(static_cast<float>(1 / temperature));
  for_packs(n, [&](int64_t j, int64_t count)
                   HWY_ATTR { store_at(exp((load_at(x + j, count) - by) * scale), weights + j, count); });
  for (int64_t j = 0; j < n; ++j)
    if (!(x[j] > -INFINITY)) weights[j] = 0;
}

void draws_of_row(const Draws& a, int64_t i, std::vector<float>& weights, std::vector<int32_t>& columns) {
  float* x = a.x.row<float>(i);
  const int64_t n = a.x.cols(), k = a.ids.cols();
  const float top = largest_in_row(x, n), log_total = log_sum(x, n, top);
  float* log_probs = a.log_probs.row<float>(i);
  int32_t* ids = a.ids.row<int32_t>(i);
  choose_none(k, log_probs, ids);
  if (const int32_t only = a.unsaid.forced_in(i); only >= 0) {
    std::fill_n(ids, k, x[only] > -INFINITY ? only : -1);
  } else {
    leave_unsaid(a.unsaid, i, x);
    const float most = largest_in_row(x, n);
    if (!(most > -INFINITY)) return;
    weights.resize(static_cast<size_t>(n));
    weigh_row(x, n, most, a.temperature, weights.data());
    draw_columns(weights, {a.top_k, a.top_p}, a.random.subspan(static_cast<size_t>(i * k), static_cast<size_t>(k)),
                 columns, ids);
  }
  for (int64_t d = 0; d < k; ++d)
    if (ids[d] >= 0) log_probs[d] = (x[ids[d]] - top) - log_total;
}

void draws(const Draws& a, ThreadPool* pool) {
  for_row_blocks(pool, a.x.rows(), a.x.cols(), [&](int64_t from, int64_t to) {
    std::vector<float> weights;
    std::vector<int32_t> columns;
    for (int64_t i = from; i < to; ++i) draws_of_row(a, i, weights, columns);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(candidates);
KERNEL_EXPORT(draws);
void candidates(const Candidates& a, ThreadPool* pool) { KERNEL_CALL(candidates)(a, pool); }
void draws(const Draws& a, ThreadPool* pool) { KERNEL_CALL(draws)(a, pool); }

}  // namespace attune::kernels
#endif
