#include "kernels/gru.h"

#define KERNELS_FILE "kernels/gru.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/math.h"

KERNELS_BEGIN

template <class T>
HWY_INLINE void cell_row(const GruCell& a, int64_t i) {
  const int64_t d = a.before.cols();
  const T* x = a.gates.row<T>(a.index ? a.index[i] : i);
  const T* g = a.hidden.row<T>(i);
  const T* h = a.before.row<T>(i);
  T* to = a.after.row<T>(i);
  T* kept = a.kept ? a.kept.row<T>(i) : nullptr;
  for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto r = sigmoid(load_at(x + j, count) + load_at(g + j, count));
    const auto z = sigmoid(load_at(x + d + j, count) + load_at(g + d + j, count));
    const auto gn = load_at(g + 2 * d + j, count);
    const auto n = tanh(fma(r, gn, load_at(x + 2 * d + j, count)));
    store_at(fma(z, load_at(h + j, count) - n, n), to + j, count);
    if (!kept) return;
    store_at(r, kept + j, count);
    store_at(z, kept + d + j, count);
    store_at(n, kept + 2 * d + j, count);
    store_at(gn, kept + 3 * d + j, count);
  });
}

void gru_cell(const GruCell& a) {
  by_pack_type(a.before.dtype, [&](auto t) HWY_ATTR {
    for (int64_t i = 0; i < a.rows; ++i) cell_row<decltype(t)>(a, i);
  });
}

template <class T>
HWY_INLINE void back_row(const GruCellBackward& a, int64_t i) {
  const int64_t d = a.before.cols();
  const T *kept = a.kept.row<T>(i), *h = a.before.row<T>(i), *dh = a.dafter.row<T>(i);
  T* dx = a.dgates ? a.dgates.row<T>(a.index ? a.index[i] : i) : nullptr;
  T* dg = a.dhidden ? a.dhidden.row<T>(i) : nullptr;
  T* to = a.dbefore ? a.dbefore.row<T>(i) : nullptr;
  const auto one = splat(T{1});
  for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto r = load_at(kept + j, count), z = load_at(kept + d + j, count), n = load_at(kept + 2 * d + j, count);
    const auto gn = load_at(kept + 3 * d + j, count), dy = load_at(dh + j, count);
    const auto dz = dy * (load_at(h + j, count) - n) * z * (one - z);
    const auto dn = dy * (one - z) * (one - n * n);
    const auto dr = dn * gn * r * (one - r);
    if (to) put_at(dy * z, to + j, count, a.add_before);
    if (dx) {
      put_at(dr, dx + j, count, a.add_gates);
      put_at(dz, dx + d + j, count, a.add_gates);
      put_at(dn, dx + 2 * d + j, count, a.add_gates);
    }
    if (dg) {
      put_at(dr, dg + j, count, a.add_hidden);
      put_at(dz, dg + d + j, count, a.add_hidden);
      put_at(dn * r, dg + 2 * d + j, count, a.add_hidden);
    }
  });
}

void gru_cell_backward(const GruCellBackward& a) {
  by_pack_type(a.before.dtype, [&](auto t) HWY_ATTR {
    for (int64_t i = 0; i < a.rows; ++i) back_row<decltype(t)>(a, i);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(gru_cell);
KERNEL_EXPORT(gru_cell_backward);

void gru_cell(const GruCell& a) { KERNEL_CALL_OF(a.before.dtype, gru_cell)(a); }
void gru_cell_backward(const GruCellBackward& a) { KERNEL_CALL_OF(a.before.dtype, gru_cell_backward)(a); }

}  // namespace attune::kernels
#endif
