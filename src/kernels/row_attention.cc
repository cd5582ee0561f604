#include "kernels/row_attention.h"

#include <algorithm>

#define KERNELS_FILE "kernels/row_attention.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/math.h"

KERNELS_BEGIN

/// body(row, first row of what it reads, how many, its first pair).
template <class Body>
HWY_INLINE void each_reading_row(const RowReads& r, Body body) {
  int64_t pair = 0;
  for (int64_t i = 0; i < r.rows(); ++i) {
    const int64_t s = r.source_of[static_cast<size_t>(i)], n = r.sources->length(s);
    body(i, r.sources->begin(s), n, pair);
    pair += n;
  }
}

// --- additive scores -------------------------------------------------------------------------------------------------

void additive_energies(const AdditiveEnergies& a) {
  by_pack_type(a.query.dtype, [&](auto t) HWY_ATTR {
    using T = decltype(t);
    const int64_t d = a.query.cols();
    const T* v = a.vector.as<T>();
    each_reading_row(a.reads, [&](int64_t i, int64_t from, int64_t n, int64_t pair) HWY_ATTR {
      const T* q = a.query.row<T>(i);
      for (int64_t k = 0; k < n; ++k) {
        const T* key = a.keys.row<T>(from + k);
        Pack<T> total = zero<T>();
        for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
          total = fma(load_at(v + j, count), tanh(load_at(q + j, count) + load_at(key + j, count)), total);
        });
        a.energies.as<T>()[pair + k] = sum(total);
      }
    });
  });
}

void additive_energies_backward(const AdditiveEnergiesBackward& a) {
  by_pack_type(a.query.dtype, [&](auto t) HWY_ATTR {
    using T = decltype(t);
    const int64_t d = a.query.cols();
    const T* v = a.vector.as<T>();
    const auto one = splat(T{1});
    each_reading_row(a.reads, [&](int64_t i, int64_t from, int64_t n, int64_t pair) HWY_ATTR {
      const T *q = a.query.row<T>(i), *de = a.denergies.as<T>() + pair;
      // A pack of columns after another: sums over the keys stay in registers.
      for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
        const auto query = load_at(q + j, count), vector = load_at(v + j, count);
        auto dq = zero<T>(), dv = zero<T>();
        for (int64_t k = 0; k < n; ++k) {
          const auto y = tanh(query + load_at(a.keys.row<T>(from + k) + j, count)), by = splat(de[k]);
          const auto dx = by * vector * (one - y * y);
          if (a.dkeys) put_at(dx, a.dkeys.row<T>(from + k) + j, count, true);
          dq = dq + dx;
          dv = fma(by, y, dv);
        }
        if (a.dquery) put_at(dq, a.dquery.row<T>(i) + j, count, a.add_query);
        if (a.dvector) put_at(dv, a.dvector.as<T>() + j, count, true);
      });
    });
  });
}

// --- softmax ---------------------------------------------------------------------------------------------------------

template <class T>
HWY_INLINE void softmax_of_pairs(const T* e, int64_t n, T* w) {
  const T largest = *std::max_element(e, e + n);
  Pack<T> total = zero<T>();
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto y = first_n(exp(load_at(e + j, count) - splat(largest)), count, zero<T>());
    store_at(y, w + j, count);
    total = total + y;
  });
  const auto by = splat(T{1} / sum(total));
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR { store_at(load_at(w + j, count) * by, w + j, count); });
}

void row_softmax(const RowReads& reads, const Tensor& energies, const Tensor& weights) {
  by_pack_type(energies.dtype, [&](auto t) HWY_ATTR {
    using T = decltype(t);
    each_reading_row(reads, [&](int64_t, int64_t, int64_t n, int64_t pair) HWY_ATTR {
      if (n > 0) softmax_of_pairs(energies.as<T>() + pair, n, weights.as<T>() + pair);
    });
  });
}

void row_softmax_backward(const RowSoftmaxBackward& a) {
  by_pack_type(a.weights.dtype, [&](auto t) HWY_ATTR {
    using T = decltype(t);
    each_reading_row(a.reads, [&](int64_t, int64_t, int64_t n, int64_t pair) HWY_ATTR {
      const T *w = a.weights.as<T>() + pair, *dw = a.dweights.as<T>() + pair;
      Pack<T> total = zero<T>();
      for_packs(n, [&](int64_t j, int64_t count)
                       HWY_ATTR { total = fma(load_at(w + j, count), load_at(dw + j, count), total); });
      const auto mean = splat(sum(total));
      for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
        put_at(load_at(w + j, count) * (load_at(dw + j, count) - mean), a.denergies.as<T>() + pair + j, count, a.add);
      });
    });
  });
}

// --- what is read ----------------------------------------------------------------------------------------------------

/// P packs of columns: one chain a column over the sequence.
template <int P, class T>
HWY_INLINE void mix_columns(const T* w, const Tensor& values, int64_t from, int64_t n, int64_t column, T* out,
                            int64_t count) {
  Pack<T> total[P];
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) total[p] = zero<T>();
  for (int64_t k = 0; k < n; ++k) {
    const auto by = splat(w[k]);
    const T* v = values.row<T>(from + k) + column;
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) total[p] = fma(by, load_at(v + 16 * p, p + 1 == P ? count : 16), total[p]);
  }
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) store_at(total[p], out + 16 * p, p + 1 == P ? count : 16);
}

void row_mix(const RowReads& reads, const Tensor& weights, const Tensor& values, const Tensor& out) {
  by_pack_type(values.dtype, [&](auto t) HWY_ATTR {
    using T = decltype(t);
    const int64_t d = values.cols();
    each_reading_row(reads, [&](int64_t i, int64_t from, int64_t n, int64_t pair) HWY_ATTR {
      const T* w = weights.as<T>() + pair;
      T* to = out.row<T>(i);
      int64_t c = 0;
      for (; c + 64 <= d; c += 64) mix_columns<4>(w, values, from, n, c, to + c, 16);
      for (; c < d; c += 16) mix_columns<1>(w, values, from, n, c, to + c, std::min<int64_t>(16, d - c));
    });
  });
}

void row_mix_backward(const RowMixBackward& a) {
  by_pack_type(a.values.dtype, [&](auto t) HWY_ATTR {
    using T = decltype(t);
    const int64_t d = a.values.cols();
    each_reading_row(a.reads, [&](int64_t i, int64_t from, int64_t n, int64_t pair) HWY_ATTR {
      const T *w = a.weights.as<T>() + pair, *dy = a.dout.row<T>(i);
      for (int64_t k = 0; k < n; ++k) {
        const T* v = a.values.row<T>(from + k);
        const auto by = splat(w[k]);
        Pack<T> total = zero<T>();
        for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
          const auto g = load_at(dy + j, count);
          total = fma(g, load_at(v + j, count), total);
          if (!a.dvalues) return;
          T* dv = a.dvalues.row<T>(from + k) + j;
          store_at(fma(by, g, load_at(dv, count)), dv, count);
        });
        if (!a.dweights) continue;
        T* dw = a.dweights.as<T>() + pair + k;
        *dw = sum(total) + (a.add_weights ? *dw : T{0});
      }
    });
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(additive_energies);
KERNEL_EXPORT(additive_energies_backward);
KERNEL_EXPORT(row_softmax);
KERNEL_EXPORT(row_softmax_backward);
KERNEL_EXPORT(row_mix);
KERNEL_EXPORT(row_mix_backward);

void additive_energies(const AdditiveEnergies& a) { KERNEL_CALL_OF(a.query.dtype, additive_energies)(a); }
void additive_energies_backward(const AdditiveEnergiesBackward& a) {
  KERNEL_CALL_OF(a.query.dtype, additive_energies_backward)(a);
}
void row_softmax(const RowReads& reads, const Tensor& energies, const Tensor& weights) {
  KERNEL_CALL_OF(energies.dtype, row_softmax)(reads, energies, weights);
}
void row_softmax_backward(const RowSoftmaxBackward& a) { KERNEL_CALL_OF(a.weights.dtype, row_softmax_backward)(a); }
void row_mix(const RowReads& reads, const Tensor& weights, const Tensor& values, const Tensor& out) {
  KERNEL_CALL_OF(values.dtype, row_mix)(reads, weights, values, out);
}
void row_mix_backward(const RowMixBackward& a) { KERNEL_CALL_OF(a.values.dtype, row_mix_backward)(a); }

}  // namespace attune::kernels
#endif
