#include "kernels/rows/elementwise.h"

#include <algorithm>
#include <limits>

#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/rows/elementwise.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/math.h"

KERNELS_BEGIN

/// body(row, first column, columns) over a [rows, cols] matrix. Where all operands are contiguous it is one long row.
template <class Body>
void sweep(ThreadPool* pool, const Tensor& shape, bool flat, Body body) {
  const int64_t rows = shape.rows(), cols = shape.cols(), all = rows * cols;
  for_blocks(pool, flat ? all : rows, flat ? kBlockWork : rows_per_block(cols), all,
             [&](int64_t from, int64_t to) HWY_ATTR {
               // one call of the body for both cases: it is large, and would be compiled twice
               const int64_t first = flat ? 0 : from, last = flat ? 1 : to;
               const int64_t column = flat ? from : 0, columns = flat ? to - from : cols;
               for (int64_t i = first; i < last; ++i) body(i, column, columns);
             });
}

/// -inf at 0, NaN below, as one expects of a logarithm; kernels/math.h wants positive finite numbers.
template <class T>
HWY_INLINE Pack<T> careful_log(const Pack<T>& x) {
  const auto not_positive = splat(-std::numeric_limits<T>::infinity()) + sqrt(x);
  const auto finite = where_greater(x, splat(std::numeric_limits<T>::max()), x, log(x));
  return where_greater(x, zero<T>(), finite, not_positive);
}

// --- one operand ----------------------------------------------------------------------------------------------------

template <class T, class Fn>
void map(const Tensor& x, const Tensor& y, ThreadPool* pool, Fn fn) {
  sweep(pool, x, x.contiguous() && y.contiguous(), [&](int64_t i, int64_t from, int64_t n) HWY_ATTR {
    const T* in = x.row<T>(i) + from;
    T* out = y.row<T>(i) + from;
    for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR { store_at<T>(fn(load_at(in + j, count)), out + j, count); });
  });
}

template <class T>
void unary_of(Unary f, T by, const Tensor& x, const Tensor& y, ThreadPool* pool) {
  using P = Pack<T>;
  switch (f) {
    case Unary::scale:
      return map<T>(x, y, pool, [by](const P& v) HWY_ATTR { return v * splat(by); });
    case Unary::add_constant:
      return map<T>(x, y, pool, [by](const P& v) HWY_ATTR { return v + splat(by); });
    case Unary::exp:
      return map<T>(x, y, pool, [](const P& v) HWY_ATTR { return exp(v); });
    case Unary::log:
      return map<T>(x, y, pool, [](const P& v) HWY_ATTR { return careful_log(v); });
    case Unary::tanh:
      return map<T>(x, y, pool, [](const P& v) HWY_ATTR { return tanh(v); });
    case Unary::sigmoid:
      return map<T>(x, y, pool, [](const P& v) HWY_ATTR { return sigmoid(v); });
    case Unary::sqrt:
      return map<T>(x, y, pool, [](const P& v) HWY_ATTR { return sqrt(v); });
  }
}

void unary(Unary f, double by, const Tensor& x, const Tensor& y, ThreadPool* pool) {
  by_pack_type(x.dtype, [&](auto t) { unary_of<decltype(t)>(f, static_cast<decltype(t)>(by), x, y, pool); });
}

/// dx (+)= fn(dy, kept); without a `kept`, dy stands in for it.
template <class T, class Fn>
void map_back(const UnaryBackward& p, ThreadPool* pool, Fn fn) {
  const Tensor& kept = p.kept ? p.kept : p.dy;
  sweep(pool, p.dy, kept.contiguous() && p.dy.contiguous() && p.dx.contiguous(),
        [&](int64_t i, int64_t from, int64_t n) HWY_ATTR {
          const T *dy = p.dy.row<T>(i) + from, *k = kept.row<T>(i) + from;
          T* dx = p.dx.row<T>(i) + from;
          for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
            put_at<T>(fn(load_at(dy + j, count), load_at(k + j, count)), dx + j, count, p.add);
          });
        });
}

template <class T>
void unary_backward_of(const UnaryBackward& p, ThreadPool* pool) {
  using P = Pack<T>;
  const T by = static_cast<T>(p.by);
  switch (p.f) {
    case Unary::scale:
      return map_back<T>(p, pool, [by](const P& dy, const P&) HWY_ATTR { return dy * splat(by); });
    case Unary::add_constant:
      return map_back<T>(p, pool, [](const P& dy, const P&) HWY_ATTR { return dy; });
    case Unary::exp:
      return map_back<T>(p, pool, [](const P& dy, const P& y) HWY_ATTR { return dy * y; });
    case Unary::log:
      return map_back<T>(p, pool, [](const P& dy, const P& x) HWY_ATTR { return dy / x; });
    case Unary::tanh:
      return map_back<T>(p, pool, [](const P& dy, const P& y) HWY_ATTR { return dy * (splat(T{1}) - y * y); });
    case Unary::sigmoid:
      return map_back<T>(p, pool, [](const P& dy, const P& y) HWY_ATTR { return dy * y * (splat(T{1}) - y); });
    case Unary::sqrt:
      return map_back<T>(p, pool, [](const P& dy, const P& y) HWY_ATTR { return dy * splat(T(0.5)) / y; });
  }
}

void unary_backward(const UnaryBackward& p, ThreadPool* pool) {
  by_pack_type(p.dy.dtype, [&](auto t) { unary_backward_of<decltype(t)>(p, pool); });
}

// --- two operands ---------------------------------------------------------------------------------------------------

/// Three inputs and their spread: out (+)= fn(dy, a, b) is every pass of a pair but the sums.
struct Three {
  const Tensor &dy, &a, &b, &out;
  Spread spread;
  bool add;
};

template <class T>
HWY_INLINE T one_of(const Three& t, int64_t i) {
  return t.spread == Spread::one ? *t.b.as<T>() : *t.b.row<T>(i);
}

template <class T, class Fn>
void map_pair(const Three& t, ThreadPool* pool, Fn fn) {
  const bool flat = (t.spread == Spread::one || (t.spread == Spread::none && t.b.contiguous())) && t.dy.contiguous() &&
                    t.a.contiguous() && t.out.contiguous();
  sweep(pool, t.out, flat, [&](int64_t i, int64_t from, int64_t n) HWY_ATTR {
    const T *dy = t.dy.row<T>(i) + from, *a = t.a.row<T>(i) + from;
    T* out = t.out.row<T>(i) + from;
    if (t.spread == Spread::column || t.spread == Spread::one) {
      const Pack<T> b = splat(one_of<T>(t, i));
      for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
        put_at<T>(fn(load_at(dy + j, count), load_at(a + j, count), b), out + j, count, t.add);
      });
    } else {
      const T* b = t.b.row<T>(t.spread == Spread::row ? 0 : i) + from;
      for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
        put_at<T>(fn(load_at(dy + j, count), load_at(a + j, count), load_at(b + j, count)), out + j, count, t.add);
      });
    }
  });
}

/// out[j] (+)= sum over rows of fn: one ascending chain per column, kPacks packs of them at once.
template <class T, int kPacks, class Fn>
HWY_INLINE void sums_down(const Three& t, int64_t j, int64_t count, Fn fn) {
  Pack<T> b[kPacks], total[kPacks];
  for (int q = 0; q < kPacks; ++q) {
    b[q] = t.dy.rows() > 0 ? load_at(t.b.as<T>() + j + 16 * q, count) : zero<T>();
    total[q] = zero<T>();
  }
  for (int64_t i = 0; i < t.dy.rows(); ++i) {
    const T *dy = t.dy.row<T>(i) + j, *a = t.a.row<T>(i) + j;
#pragma GCC unroll 4
    for (int q = 0; q < kPacks; ++q)
      total[q] = total[q] + fn(load_at(dy + 16 * q, count), load_at(a + 16 * q, count), b[q]);
  }
  for (int q = 0; q < kPacks; ++q) put_at(total[q], t.out.as<T>() + j + 16 * q, count, t.add);
}

template <class T, class Fn>
void sum_down(const Three& t, ThreadPool* pool, Fn fn) {
  for_blocks(pool, t.dy.cols(), kColumnBlock, t.dy.size(), [&](int64_t from, int64_t to) HWY_ATTR {
    int64_t j = from;
    for (; j + 64 <= to; j += 64) sums_down<T, 4>(t, j, 16, fn);
    for (; j < to; j += 16) sums_down<T, 1>(t, j, std::min<int64_t>(16, to - j), fn);
  });
}

/// sums[i * stride] (+)= the sum over row i of fn: sixteen lanes and their tree.
template <class T, class Fn>
void sum_across(const Three& t, T* sums, int64_t stride, ThreadPool* pool, Fn fn) {
  const int64_t cols = t.dy.cols();
  for_blocks(pool, t.dy.rows(), rows_per_block(cols), t.dy.size(), [&](int64_t from, int64_t to) HWY_ATTR {
    for (int64_t i = from; i < to; ++i) {
      const T *dy = t.dy.row<T>(i), *a = t.a.row<T>(i);
      const Pack<T> b = splat(one_of<T>(t, i));
      Pack<T> total = zero<T>();
      for_packs(cols, [&](int64_t j, int64_t count) HWY_ATTR {
        const Pack<T> v = fn(load_at(dy + j, count), load_at(a + j, count), b);
        total = total + (count == 16 ? v : first_n(v, count, zero<T>()));
      });
      sums[i * stride] = t.add ? sums[i * stride] + sum(total) : sum(total);
    }
  });
}

/// Calls use(fn) with y, the left or the right slope of f as a function of (dy, a, b).
template <class T, class Use>
void with_value(Pairwise f, Use use) {
  using P = Pack<T>;
  switch (f) {
    case Pairwise::add:
      return use([](const P&, const P& a, const P& b) HWY_ATTR { return a + b; });
    case Pairwise::subtract:
      return use([](const P&, const P& a, const P& b) HWY_ATTR { return a - b; });
    case Pairwise::multiply:
      return use([](const P&, const P& a, const P& b) HWY_ATTR { return a * b; });
    case Pairwise::divide:
      return use([](const P&, const P& a, const P& b) HWY_ATTR { return a / b; });
  }
}
template <class T, class Use>
void with_left(Pairwise f, Use use) {
  using P = Pack<T>;
  switch (f) {
    case Pairwise::add:
    case Pairwise::subtract:
      return use([](const P& dy, const P&, const P&) HWY_ATTR { return dy; });
    case Pairwise::multiply:
      return use([](const P& dy, const P&, const P& b) HWY_ATTR { return dy * b; });
    case Pairwise::divide:
      return use([](const P& dy, const P&, const P& b) HWY_ATTR { return dy / b; });
  }
}
template <class T, class Use>
void with_right(Pairwise f, Use use) {
  using P = Pack<T>;
  switch (f) {
    case Pairwise::add:
      return use([](const P& dy, const P&, const P&) HWY_ATTR { return dy; });
    case Pairwise::subtract:
      return use([](const P& dy, const P&, const P&) HWY_ATTR { return zero<T>() - dy; });
    case Pairwise::multiply:
      return use([](const P& dy, const P& a, const P&) HWY_ATTR { return dy * a; });
    case Pairwise::divide:
      return use([](const P& dy, const P& a, const P& b) HWY_ATTR { return zero<T>() - dy * a / (b * b); });
  }
}

void pairwise(Pairwise f, Spread spread, const Tensor& a, const Tensor& b, const Tensor& y, ThreadPool* pool) {
  const Three t{a, a, b, y, spread, false};
  by_pack_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    with_value<T>(f, [&](auto fn) { map_pair<T>(t, pool, fn); });
  });
}

void pairwise_backward_left(const PairwiseBackward& p, ThreadPool* pool) {
  // Operands the slope does not look at may be absent: dy stands in.
  const Three t{p.dy, p.dy, p.b ? p.b : p.dy, p.to, p.b ? p.spread : Spread::none, p.add};
  by_pack_type(p.dy.dtype, [&](auto type) {
    using T = decltype(type);
    with_left<T>(p.f, [&](auto fn) { map_pair<T>(t, pool, fn); });
  });
}

template <class T>
void pairwise_backward_right_of(const PairwiseBackward& p, ThreadPool* pool) {
  Three t{p.dy, p.a ? p.a : p.dy, p.b ? p.b : p.dy, p.to, p.spread, p.add};
  with_right<T>(p.f, [&](auto fn) {
    switch (p.spread) {
      case Spread::none:
        return map_pair<T>(t, pool, fn);
      case Spread::row:
        return sum_down<T>(t, pool, fn);
      case Spread::column:
        return sum_across<T>(t, p.to.as<T>(), p.to.stride, pool, fn);
      case Spread::one: {
        T* sums = static_cast<T*>(p.row_sums);
        t.add = false;
        sum_across<T>(t, sums, 1, pool, fn);
        const T total = sum_of(sums, p.dy.rows());
        T* to = p.to.as<T>();
        *to = p.add ? *to + total : total;
      }
    }
  });
}

void pairwise_backward_right(const PairwiseBackward& p, ThreadPool* pool) {
  by_pack_type(p.dy.dtype, [&](auto t) { pairwise_backward_right_of<decltype(t)>(p, pool); });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(unary);
KERNEL_EXPORT(unary_backward);
KERNEL_EXPORT(pairwise);
KERNEL_EXPORT(pairwise_backward_left);
KERNEL_EXPORT(pairwise_backward_right);

void unary(Unary f, double by, const Tensor& x, const Tensor& y, ThreadPool* pool) {
  KERNEL_CALL_OF(x.dtype, unary)(f, by, x, y, pool);
}
void unary_backward(const UnaryBackward& p, ThreadPool* pool) { KERNEL_CALL_OF(p.dy.dtype, unary_backward)(p, pool); }
void pairwise(Pairwise f, Spread spread, const Tensor& a, const Tensor& b, const Tensor& y, ThreadPool* pool) {
  KERNEL_CALL_OF(a.dtype, pairwise)(f, spread, a, b, y, pool);
}
void pairwise_backward_left(const PairwiseBackward& p, ThreadPool* pool) {
  KERNEL_CALL_OF(p.dy.dtype, pairwise_backward_left)(p, pool);
}
void pairwise_backward_right(const PairwiseBackward& p, ThreadPool* pool) {
  KERNEL_CALL_OF(p.dy.dtype, pairwise_backward_right)(p, pool);
}

}  // namespace attune::kernels
#endif
