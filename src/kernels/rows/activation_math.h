// Activation functions and their derivatives on a Pack. Include after kernels/math.h; compiled once per instruction
// set.
#if defined(ATTUNE_ACTIVATION_MATH_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_ACTIVATION_MATH_PER_TARGET
#undef ATTUNE_ACTIVATION_MATH_PER_TARGET
#else
#define ATTUNE_ACTIVATION_MATH_PER_TARGET
#endif

#include "kernels/math.h"
#include "kernels/rows/activation.h"

KERNELS_BEGIN

template <class T>
KERNELS_INLINE Pack<T> gelu_inner(const Pack<T>& x) {  // sqrt(2 / pi) (x + 0.044715 x^3)
  const auto cubic = fma(x * x * x, splat(T(0.044715)), x);
  return cubic * splat(T(0.7978845608028654));
}

/// f(x).
template <class T>
KERNELS_INLINE Pack<T> activate(Activation kind, const Pack<T>& x) {
  const auto one = splat(T{1}), half = splat(T(0.5));
  switch (kind) {
    case Activation::none:
      return x;
    case Activation::relu:
      return where_greater(zero<T>(), x, zero<T>(), x);  // unlike max, keeps not-a-number
    case Activation::gelu:
      return half * x * (one + erf(x * splat(T(0.7071067811865476))));
    case Activation::gelu_tanh:
      return half * x * (one + tanh(gelu_inner(x)));
    case Activation::swish:
      return x * sigmoid(x);
    case Activation::tanh:
      return tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
  }
  return x;
}

/// f'(x).
template <class T>
KERNELS_INLINE Pack<T> activation_slope(Activation kind, const Pack<T>& x) {
  const auto one = splat(T{1}), half = splat(T(0.5));
  switch (kind) {
    case Activation::none:
      return one;
    case Activation::relu:
      return where_greater(x, zero<T>(), one, zero<T>());
    case Activation::gelu: {
      const auto cdf = half * (one + erf(x * splat(T(0.7071067811865476))));
      const auto pdf = exp(x * x * splat(T(-0.5))) * splat(T(0.3989422804014327));
      return fma(x, pdf, cdf);
    }
    case Activation::gelu_tanh: {
      const auto t = tanh(gelu_inner(x));
      const auto inner_slope = fma(x * x, splat(T(3 * 0.044715 * 0.7978845608028654)), splat(T(0.7978845608028654)));
      return fma(half * x * (one - t * t), inner_slope, half * (one + t));
    }
    case Activation::swish: {
      const auto s = sigmoid(x);
      return s * fma(x, one - s, one);
    }
    case Activation::tanh: {
      const auto t = tanh(x);
      return one - t * t;
    }
    case Activation::sigmoid: {
      const auto s = sigmoid(x);
      return s * (one - s);
    }
  }
  return one;
}

KERNELS_END

#endif
