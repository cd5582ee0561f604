#include "kernels/rows/reduce.h"

#include <algorithm>
#include <limits>

#include "base/portable_math.h"
#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/rows/reduce.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/math.h"

KERNELS_BEGIN

/// body(row) for all rows.
template <class Body>
void each_row(const Tensor& x, ThreadPool* pool, Body body) {
  for_row_blocks(pool, x.rows(), x.cols(), [&](int64_t from, int64_t to) HWY_ATTR {
    for (int64_t i = from; i < to; ++i) body(i);
  });
}
/// body(column, count) for every sixteen columns.
template <class Body>
void each_column_pack(const Tensor& x, ThreadPool* pool, Body body) {
  for_blocks(pool, x.cols(), kColumnBlock, x.size(), [&](int64_t from, int64_t to) HWY_ATTR {
    for_packs(to - from, [&](int64_t j, int64_t count) HWY_ATTR { body(from + j, count); });
  });
}

template <class T>
HWY_INLINE T max_of(const T* p, int64_t n) {
  const Pack<T> lowest = splat(-std::numeric_limits<T>::infinity());
  Pack<T> best = lowest;
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    best = max(best, count == 16 ? load(p + j) : first_n(load_n(p + j, count), count, lowest));
  });
  return max_of(best);
}
HWY_INLINE float log_of(float x) { return log2_of(x) * 0.69314718056f; }
HWY_INLINE double log_of(double x) { return portable::log(x); }

// --- sums -----------------------------------------------------------------------------------------------------------

template <class T>
void row_sum_of(const Tensor& x, T scale, T* y, int64_t stride, ThreadPool* pool) {
  each_row(x, pool, [&](int64_t i) HWY_ATTR { y[i * stride] = scale * sum_of(x.row<T>(i), x.cols()); });
}

void row_sum(const Tensor& x, double scale, const Tensor& y, ThreadPool* pool) {
  by_pack_type(x.dtype, [&](auto t) {
    using T = decltype(t);
    row_sum_of<T>(x, static_cast<T>(scale), y.as<T>(), y.stride, pool);
  });
}

/// Four packs of columns at a time: whole cache lines of each row are used while they are there.
template <class T>
void column_sum_of(const Tensor& x, T scale, T* y, bool add, ThreadPool* pool) {
  constexpr int64_t kWide = 64;
  const int64_t rows = x.rows(), cols = x.cols();
  parallel_for(x.size() < kSmallWork ? nullptr : pool, (cols + kWide - 1) / kWide, [&](int64_t block, int) HWY_ATTR {
    const int64_t from = block * kWide;
    if (from + kWide <= cols) {
      Pack<T> total[4] = {zero<T>(), zero<T>(), zero<T>(), zero<T>()};
      for (int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) total[q] = total[q] + load(x.row<T>(i) + from + 16 * q);
      for (int q = 0; q < 4; ++q) put_at(total[q] * splat(scale), y + from + 16 * q, 16, add);
      return;
    }
    for_packs(cols - from, [&](int64_t j, int64_t count) HWY_ATTR {
      Pack<T> total = zero<T>();
      for (int64_t i = 0; i < rows; ++i) total = total + load_at(x.row<T>(i) + from + j, count);
      put_at(total * splat(scale), y + from + j, count, add);
    });
  });
}

void column_sum(const Tensor& x, double scale, const Tensor& y, bool add, ThreadPool* pool) {
  by_pack_type(x.dtype, [&](auto t) {
    using T = decltype(t);
    column_sum_of<T>(x, static_cast<T>(scale), y.as<T>(), add, pool);
  });
}

template <class T>
void sum_all_of(const Tensor& x, T scale, T* row_sums, T* y, ThreadPool* pool) {
  row_sum_of<T>(x, T{1}, row_sums, 1, pool);
  *y = scale * sum_of(row_sums, x.rows());
}

void sum_all(const Tensor& x, double scale, void* row_sums, const Tensor& y, ThreadPool* pool) {
  by_pack_type(x.dtype, [&](auto t) {
    using T = decltype(t);
    sum_all_of<T>(x, static_cast<T>(scale), static_cast<T*>(row_sums), y.as<T>(), pool);
  });
}

template <class T>
void sum_backward_of(const SumBackward& p, ThreadPool* pool) {
  const T scale = static_cast<T>(p.scale);
  each_row(p.dx, pool, [&](int64_t i) HWY_ATTR {
    T* dx = p.dx.row<T>(i);
    if (p.of == SumOf::columns) {
      const T* dy = p.dy.as<T>();
      for_packs(p.dx.cols(), [&](int64_t j, int64_t count)
                                 HWY_ATTR { put_at(load_at(dy + j, count) * splat(scale), dx + j, count, p.add); });
    } else {
      const Pack<T> v = splat(scale * (p.of == SumOf::all ? *p.dy.as<T>() : *p.dy.row<T>(i)));
      for_packs(p.dx.cols(), [&](int64_t j, int64_t count) HWY_ATTR { put_at(v, dx + j, count, p.add); });
    }
  });
}

void sum_backward(const SumBackward& p, ThreadPool* pool) {
  by_pack_type(p.dx.dtype, [&](auto t) { sum_backward_of<decltype(t)>(p, pool); });
}

// --- maxima ---------------------------------------------------------------------------------------------------------

template <class T>
void row_max_of(const Tensor& x, const Tensor& y, ThreadPool* pool) {
  each_row(x, pool, [&](int64_t i) HWY_ATTR { *y.row<T>(i) = max_of(x.row<T>(i), x.cols()); });
}
void row_max(const Tensor& x, const Tensor& y, ThreadPool* pool) {
  by_pack_type(x.dtype, [&](auto t) { row_max_of<decltype(t)>(x, y, pool); });
}

template <class T>
void column_max_of(const Tensor& x, const Tensor& y, ThreadPool* pool) {
  each_column_pack(x, pool, [&](int64_t j, int64_t count) HWY_ATTR {
    Pack<T> best = splat(-std::numeric_limits<T>::infinity());
    for (int64_t i = 0; i < x.rows(); ++i) best = max(best, load_at(x.row<T>(i) + j, count));
    store_at(best, y.as<T>() + j, count);
  });
}
void column_max(const Tensor& x, const Tensor& y, ThreadPool* pool) {
  by_pack_type(x.dtype, [&](auto t) { column_max_of<decltype(t)>(x, y, pool); });
}

template <class T>
void row_max_backward_of(const MaxBackward& p, ThreadPool* pool) {
  const int64_t cols = p.x.cols();
  each_row(p.x, pool, [&](int64_t i) HWY_ATTR {
    const T* x = p.x.row<T>(i);
    T* dx = p.dx.row<T>(i);
    if (!p.add) std::fill_n(dx, cols, T{0});
    const int64_t at = std::find(x, x + cols, *p.y.row<T>(i)) - x;
    if (at < cols) dx[at] += *p.dy.row<T>(i);
  });
}
void row_max_backward(const MaxBackward& p, ThreadPool* pool) {
  by_pack_type(p.x.dtype, [&](auto t) { row_max_backward_of<decltype(t)>(p, pool); });
}

template <class T>
void column_max_backward_of(const MaxBackward& p, ThreadPool* pool) {
  const T *y = p.y.as<T>(), *dy = p.dy.as<T>();
  each_column_pack(p.x, pool, [&](int64_t from, int64_t count) HWY_ATTR {
    bool found[16] = {};
    for (int64_t i = 0; i < p.x.rows(); ++i) {
      const T* x = p.x.row<T>(i);
      T* dx = p.dx.row<T>(i);
      for (int64_t q = 0; q < count; ++q) {
        const int64_t j = from + q;
        const bool here = !found[q] && x[j] == y[j];
        if (!p.add) dx[j] = 0;
        if (here) dx[j] += dy[j];
        found[q] = found[q] || here;
      }
    }
  });
}
void column_max_backward(const MaxBackward& p, ThreadPool* pool) {
  by_pack_type(p.x.dtype, [&](auto t) { column_max_backward_of<decltype(t)>(p, pool); });
}

// --- softmax --------------------------------------------------------------------------------------------------------

template <class T>
HWY_INLINE void softmax_row(const T* x, int64_t n, bool logarithm, T* y) {
  const T found = max_of(x, n);
  const T highest = found == -std::numeric_limits<T>::infinity() ? T{0} : found;  // all -inf: exp(-inf) is 0
  const Pack<T> top = splat(highest);
  Pack<T> total = zero<T>();
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const Pack<T> v = load_at(x + j, count) - top, e = exp(v);
    total = total + (count == 16 ? e : first_n(e, count, zero<T>()));
    store_at(logarithm ? v : e, y + j, count);
  });
  const T all = sum(total);
  const Pack<T> by = splat(logarithm ? (all == 0 ? T{0} : log_of(all)) : (all == 0 ? T{0} : T{1} / all));
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const Pack<T> v = load_at(y + j, count);
    store_at(logarithm ? v - by : v * by, y + j, count);
  });
}

template <class T>
void softmax_of(const Tensor& x, bool logarithm, const Tensor& y, ThreadPool* pool) {
  each_row(x, pool, [&](int64_t i) HWY_ATTR { softmax_row<T>(x.row<T>(i), x.cols(), logarithm, y.row<T>(i)); });
}
void softmax(const Tensor& x, bool logarithm, const Tensor& y, ThreadPool* pool) {
  by_pack_type(x.dtype, [&](auto t) { softmax_of<decltype(t)>(x, logarithm, y, pool); });
}

template <class T>
HWY_INLINE void softmax_backward_row(const SoftmaxBackward& p, int64_t i) {
  const T *y = p.y.row<T>(i), *dy = p.dy.row<T>(i);
  T* dx = p.dx.row<T>(i);
  const int64_t n = p.y.cols();
  Pack<T> total = zero<T>();  // of dy, or of dy y
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const Pack<T> g = load_at(dy + j, count);
    total = p.logarithm ? total + g : fma(g, load_at(y + j, count), total);
  });
  const Pack<T> all = splat(sum(total));
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const Pack<T> g = load_at(dy + j, count), v = load_at(y + j, count);
    put_at(p.logarithm ? g - exp(v) * all : v * (g - all), dx + j, count, p.add);
  });
}

template <class T>
void softmax_backward_of(const SoftmaxBackward& p, ThreadPool* pool) {
  each_row(p.y, pool, [&](int64_t i) HWY_ATTR { softmax_backward_row<T>(p, i); });
}
void softmax_backward(const SoftmaxBackward& p, ThreadPool* pool) {
  by_pack_type(p.y.dtype, [&](auto t) { softmax_backward_of<decltype(t)>(p, pool); });
}

// --- running sums ---------------------------------------------------------------------------------------------------

template <class T>
void running_sum_of(const RunningSum& p, int64_t sequence, int64_t from, int64_t to) {
  const int64_t begin = p.segments->begin(sequence), length = p.segments->length(sequence);
  for_packs(to - from, [&](int64_t at, int64_t count) HWY_ATTR {
    const int64_t j = from + at;
    Pack<T> total = zero<T>();
    for (int64_t t = 0; t < length; ++t) {
      const int64_t i = p.from_end ? begin + length - 1 - t : begin + t;
      total = total + load_at(p.x.row<T>(i) + j, count);
      put_at(total, p.y.row<T>(i) + j, count, p.add);
    }
  });
}

/// A block is one sequence's rows under 64 columns.
void running_sum(const RunningSum& p, ThreadPool* pool) {
  const int64_t cols = p.x.cols(), stripes = (cols + kColumnBlock - 1) / kColumnBlock;
  by_pack_type(p.x.dtype, [&](auto t) {
    using T = decltype(t);
    for_blocks(pool, p.segments->count() * stripes, 1, p.x.size(), [&](int64_t first, int64_t last) {
      for (int64_t b = first; b < last; ++b) {
        const int64_t from = b % stripes * kColumnBlock;
        running_sum_of<T>(p, b / stripes, from, std::min(cols, from + kColumnBlock));
      }
    });
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(row_sum);
KERNEL_EXPORT(column_sum);
KERNEL_EXPORT(sum_all);
KERNEL_EXPORT(sum_backward);
KERNEL_EXPORT(row_max);
KERNEL_EXPORT(column_max);
KERNEL_EXPORT(row_max_backward);
KERNEL_EXPORT(column_max_backward);
KERNEL_EXPORT(softmax);
KERNEL_EXPORT(softmax_backward);
KERNEL_EXPORT(running_sum);

void row_sum(const Tensor& x, double scale, const Tensor& y, ThreadPool* pool) {
  KERNEL_CALL_OF(x.dtype, row_sum)(x, scale, y, pool);
}
void column_sum(const Tensor& x, double scale, const Tensor& y, bool add, ThreadPool* pool) {
  KERNEL_CALL_OF(x.dtype, column_sum)(x, scale, y, add, pool);
}
void sum_all(const Tensor& x, double scale, void* row_sums, const Tensor& y, ThreadPool* pool) {
  KERNEL_CALL_OF(x.dtype, sum_all)(x, scale, row_sums, y, pool);
}
void sum_backward(const SumBackward& p, ThreadPool* pool) { KERNEL_CALL_OF(p.dx.dtype, sum_backward)(p, pool); }
void row_max(const Tensor& x, const Tensor& y, ThreadPool* pool) { KERNEL_CALL_OF(x.dtype, row_max)(x, y, pool); }
void column_max(const Tensor& x, const Tensor& y, ThreadPool* pool) { KERNEL_CALL_OF(x.dtype, column_max)(x, y, pool); }
void row_max_backward(const MaxBackward& p, ThreadPool* pool) { KERNEL_CALL_OF(p.x.dtype, row_max_backward)(p, pool); }
void column_max_backward(const MaxBackward& p, ThreadPool* pool) {
  KERNEL_CALL_OF(p.x.dtype, column_max_backward)(p, pool);
}
void softmax(const Tensor& x, bool logarithm, const Tensor& y, ThreadPool* pool) {
  KERNEL_CALL_OF(x.dtype, softmax)(x, logarithm, y, pool);
}
void softmax_backward(const SoftmaxBackward& p, ThreadPool* pool) {
  KERNEL_CALL_OF(p.y.dtype, softmax_backward)(p, pool);
}
void running_sum(const RunningSum& p, ThreadPool* pool) { KERNEL_CALL_OF(p.x.dtype, running_sum)(p, pool); }

}  // namespace attune::kernels
#endif
