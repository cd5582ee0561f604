// What attention of single rows shares, whatever its scores: finding a row's keys and values wherever they lie, and the
// weighted sum. Include after kernels/simd.h; once per instruction set.
#if defined(ATTUNE_STEP_ROWS_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_STEP_ROWS_PER_TARGET
#undef ATTUNE_STEP_ROWS_PER_TARGET
#else
#define ATTUNE_STEP_ROWS_PER_TARGET
#endif

#include <algorithm>

#include "kernels/attention/attention_step.h"
#include "kernels/row_blocks.h"

KERNELS_BEGIN

/// What one worker needs: where a row's keys and values lie, and its scores.
struct StepSpace {
  const float **keys, **values;  // [longest]
  float* scores;                 // [longest], whole packs
  float* hook;                   // what a hook asked for
};

/// Asks for the numbers of one head. Keys and values lie scattered, so the CPU does not look ahead by itself.
HWY_INLINE void ask_for(const float* x, int64_t dim) {
  for (int64_t d = 0; d < dim; d += 16) __builtin_prefetch(x + d);
}

/// Lists where the keys and values of row i are. Returns how many there are.
HWY_INLINE int64_t find_keys(const AttentionStep& a, int64_t i, const StepSpace& w) {
  if (a.ids) {
    for (int64_t j = 0; j < a.longest; ++j) {
      const int64_t id = a.ids[j * a.rows + i];
      ask_for(w.keys[j] = a.keys.row(id), a.dim);
      ask_for(w.values[j] = a.values.row(id), a.dim);
    }
    return a.longest;
  }
  const int64_t n = a.count[i];
  for (int64_t j = 0; j < n; ++j) {
    ask_for(w.keys[j] = a.keys.row(a.first[i] + j), a.dim);
    ask_for(w.values[j] = a.values.row(a.first[i] + j), a.dim);
  }
  return n;
}

HWY_INLINE float dot(const float* x, const float* y, int64_t dim) {
  auto total = zero<float>();
  for_packs(dim, [&](int64_t d, int64_t count)
                     HWY_ATTR { total = fma(load_at(x + d, count), load_at(y + d, count), total); });
  return sum(total);
}

#if HWY_TARGET != HWY_SCALAR
/// The first steps of sum(): the sixteen lanes of a pack to four.
template <class V>
HWY_INLINE auto four_sums(const V& v) {
  const hn::FixedTag<float, 4> f4;
  if constexpr (kRegs == 1) {
    const hn::Half<F> f8;
    const auto a = hn::Add(hn::LowerHalf(f8, v.r[0]), hn::UpperHalf(f8, v.r[0]));
    return hn::Add(hn::LowerHalf(f4, a), hn::UpperHalf(f4, a));
  } else if constexpr (kRegs == 2) {
    const auto a = hn::Add(v.r[0], v.r[kRegs - 1]);
    return hn::Add(hn::LowerHalf(f4, a), hn::UpperHalf(f4, a));
  } else {
    return hn::Add(hn::Add(v.r[0], v.r[2 % kRegs]), hn::Add(v.r[1 % kRegs], v.r[3 % kRegs]));
  }
}

/// dot() of x and four others: the same bits, and one tree of sums for all.
HWY_INLINE void four_dots(const float* x, const float* const* y, int64_t column, int64_t dim, float* out) {
  const hn::FixedTag<float, 4> f4;
  Pack<float> total[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) total[i] = zero<float>();
  for_packs(dim, [&](int64_t d, int64_t count) HWY_ATTR {
    const auto own = load_at(x + d, count);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) total[i] = fma(own, load_at(y[i] + column + d, count), total[i]);
  });
  const auto a = four_sums(total[0]), b = four_sums(total[1]), c = four_sums(total[2]), e = four_sums(total[3]);
  const auto ab = hn::Add(hn::InterleaveLower(f4, a, b), hn::InterleaveUpper(f4, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(f4, c, e), hn::InterleaveUpper(f4, c, e));
  hn::StoreU(hn::Add(hn::ConcatLowerLower(f4, ce, ab), hn::ConcatUpperUpper(f4, ce, ab)), f4, out);
}
#endif

/// scores_j = dot(x, key_j[column ...]), asking for what the next head will read, if there is one, on the way.
HWY_INLINE void dots(const StepSpace& w, int64_t n, const float* x, int64_t column, int64_t dim, bool more) {
  const auto ask = [&](int64_t j) HWY_ATTR {
    if (!more) return;
    ask_for(w.keys[j] + column + dim, dim);
    ask_for(w.values[j] + column + dim, dim);
  };
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; j + 4 <= n; j += 4) {
    for (int i = 0; i < 4; ++i) ask(j + i);
    four_dots(x, w.keys + j, column, dim, w.scores + j);
  }
#endif
  for (; j < n; ++j) {
    ask(j);
    w.scores[j] = dot(x, w.keys[j] + column, dim);
  }
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

/// The same for the `dim` columns of a head.
HWY_INLINE void weighted_sums(const StepSpace& w, int64_t n, int64_t column, int64_t dim, float* out) {
  int64_t d = 0;
  for (; d + 64 <= dim; d += 64) weighted_sum<4>(w, n, column + d, out + d);
  for (; d + 32 <= dim; d += 32) weighted_sum<2>(w, n, column + d, out + d);
  for_packs(dim - d,
            [&](int64_t j, int64_t count) HWY_ATTR { weighted_sum_n(w, n, column + d + j, out + d + j, count); });
}

/// attend(row, space) for all rows, each worker with scratch of its own.
template <class Attend>
HWY_INLINE void for_step_rows(const AttentionStep& a, ThreadPool* pool, Attend attend) {
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
    for (int64_t i = block * each; i < std::min(a.rows, (block + 1) * each); ++i) attend(i, w);
  });
}

KERNELS_END

#endif
