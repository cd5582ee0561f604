#include "kernels/rows/activation.h"

#include "kernels/row_blocks.h"

#define KERNELS_FILE "kernels/rows/activation.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/dropout.h"
#include "kernels/math.h"
#include "kernels/rows/activation_math.h"

KERNELS_BEGIN

template <Activation kKind>
void rows(const Activate& a, int64_t from, int64_t to) {
  const int64_t d = a.y.cols();
  const bool on = a.dropout.on();
  for (int64_t r = from; r < to; ++r) {
    const float* x = a.x.row<float>(r);
    float* y = a.y.row<float>(r);
    DropoutSweep drop(a.dropout, r);
    for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
      auto v = activate(kKind, load_at(x + j, count));
      if (a.gated) v = v * load_at(x + d + j, count);
      store_at(on ? drop.apply(v, j) : v, y + j, count);
    });
  }
}

template <Activation kKind>
void backward(const ActivateBackward& a, int64_t from, int64_t to) {
  const int64_t d = a.dy.cols();
  const bool on = a.dropout.on();
  for (int64_t r = from; r < to; ++r) {
    const float* x = a.x.row<float>(r);
    const float* dy = a.dy.row<float>(r);
    float* dx = a.dx.row<float>(r);
    DropoutSweep drop(a.dropout, r);
    for_packs(d, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto v = load_at(x + j, count);
      auto g = load_at(dy + j, count);
      if (on) g = drop.apply(g, j);
      if (a.gated) {
        put_at(g * activate(kKind, v), dx + d + j, count, a.add);
        g = g * load_at(x + d + j, count);
      }
      put_at(g * activation_slope(kKind, v), dx + j, count, a.add);
    });
  }
}

void backward_by_sign(const ActivateBackward& a, int64_t from, int64_t to) {
  const auto scale = splat(a.dropout.on() ? dropout_scale(a.dropout.rate) : 1.0f), none = zero<float>();
  for (int64_t r = from; r < to; ++r) {
    const float* y = a.y.row<float>(r);
    const float* dy = a.dy.row<float>(r);
    float* dx = a.dx.row<float>(r);
    for_packs(a.dy.cols(), [&](int64_t j, int64_t count) HWY_ATTR {
      const auto g = load_at(dy + j, count) * scale;
      put_at(where_greater(load_at(y + j, count), none, g, none), dx + j, count, a.add);
    });
  }
}

/// Calls f with the kind as a constant, so that the choice is made once and not for every sixteen elements.
template <class Fn>
HWY_INLINE void with_kind(Activation kind, Fn f) {
  using A = Activation;
  switch (kind) {
    case A::none:
      return f(std::integral_constant<A, A::none>());
    case A::relu:
      return f(std::integral_constant<A, A::relu>());
    case A::gelu:
      return f(std::integral_constant<A, A::gelu>());
    case A::gelu_tanh:
      return f(std::integral_constant<A, A::gelu_tanh>());
    case A::swish:
      return f(std::integral_constant<A, A::swish>());
    case A::tanh:
      return f(std::integral_constant<A, A::tanh>());
    case A::sigmoid:
      return f(std::integral_constant<A, A::sigmoid>());
  }
}

void activate_rows(const Activate& a, ThreadPool* pool) {
  for_row_blocks(pool, a.y.rows(), a.y.cols(), [&](int64_t from, int64_t to) {
    with_kind(a.kind, [&](auto kind) { rows<decltype(kind)::value>(a, from, to); });
  });
}

void activate_rows_backward(const ActivateBackward& a, ThreadPool* pool) {
  for_row_blocks(pool, a.dy.rows(), a.dy.cols(), [&](int64_t from, int64_t to) {
    if (!a.x) return backward_by_sign(a, from, to);
    with_kind(a.kind, [&](auto kind) { backward<decltype(kind)::value>(a, from, to); });
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(activate_rows);
KERNEL_EXPORT(activate_rows_backward);

void activate_rows(const Activate& a, ThreadPool* pool) { KERNEL_CALL(activate_rows)(a, pool); }
void activate_rows_backward(const ActivateBackward& a, ThreadPool* pool) {
  KERNEL_CALL(activate_rows_backward)(a, pool);
}

}  // namespace attune::kernels
#endif
