#include "autograd/operations/activation.h"

#include <cmath>

#include "autograd/reference.h"
#include "base/error.h"

namespace attune {

namespace {

constexpr const char* kActivationOp = "activation";

Var make_result(Ctx& ctx, const Var& x, ActivationKind kind) {
  check(x.dtype() == DType::f32 || x.dtype() == DType::f64, kActivationOp, "rows are {}, not f32 or f64",
        name_of(x.dtype()));
  Shape shape = x.shape();
  if (kind.gated) {
    check(shape.rank() > 0 && shape.cols() % 2 == 0, kActivationOp, "a gate halves the columns, rows have {}",
          shape.cols());
    shape[shape.rank() - 1] /= 2;
  }
  return ctx.make(shape, x.dtype(), {&x});
}

}  // namespace

Var activation(Ctx& ctx, const Var& x, ActivationKind kind, const Dropout& dropout) {
  if (x.dtype() == DType::f64) return activation_reference(ctx, x, kind, dropout);
  Var y = make_result(ctx, x, kind);
  ctx.run([&] { kernels::activate_rows({kind.f, kind.gated, dropout, x.value(), y.value()}, ctx.pool); });
  if (!y.needs_grad()) return y;
  const auto backward = [](Ctx& ctx, const Sink& x, const Sink& y, kernels::ActivateBackward& b) {
    const Grad dx = ctx.grad(x);
    b.dy = ctx.grad_of(y);
    b.dx = dx.tensor;
    b.add = dx.add;
    ctx.run([&] { kernels::activate_rows_backward(b, ctx.pool); });
  };
  if (kind.f == Activation::relu && !kind.gated)
    ctx.tape->push(y, [backward, x = x.sink(), y, dropout](Ctx& ctx) {
      kernels::ActivateBackward b{Activation::relu, false, dropout};
      b.y = y.value();
      backward(ctx, x, y.sink(), b);
    });
  else
    ctx.tape->push(y, [backward, x, y = y.sink(), kind, dropout](Ctx& ctx) {
      kernels::ActivateBackward b{kind.f, kind.gated, dropout};
      b.x = x.value();
      backward(ctx, x.sink(), y, b);
    });
  return y;
}

// --- the reference ---------------------------------------------------------------------------------------------------

namespace {

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

const double kRootTwoOverPi = std::sqrt(2 / 3.14159265358979323846);

template <class T>
T value(Activation f, T x) {
  switch (f) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > 0 ? x : T{0};
    case Activation::gelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(T{2})));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(T(kRootTwoOverPi) * (x + T(0.044715) * x * x * x)));
    case Activation::swish:
      return x * sigmoid(x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
  }
  return x;
}

template <class T>
T slope(Activation f, T x) {
  const T value_here = value(f, x);
  switch (f) {
    case Activation::none:
      return 1;
    case Activation::relu:
      return x > 0 ? 1 : 0;
    case Activation::gelu:
      return (1 + std::erf(x / std::sqrt(T{2}))) / 2 + x * std::exp(-x * x / 2) * T(kRootTwoOverPi / 2);
    case Activation::gelu_tanh: {
      const T t = std::tanh(T(kRootTwoOverPi) * (x + T(0.044715) * x * x * x));
      return (1 + t) / 2 + x / 2 * (1 - t * t) * T(kRootTwoOverPi) * (1 + 3 * T(0.044715) * x * x);
    }
    case Activation::swish:
      return sigmoid(x) * (1 + x - value_here);
    case Activation::tanh:
      return 1 - value_here * value_here;
    case Activation::sigmoid:
      return value_here * (1 - value_here);
  }
  return 1;
}

}  // namespace

Var activation_reference(Ctx& ctx, const Var& x, ActivationKind kind, const Dropout& dropout) {
  Var y = make_result(ctx, x, kind);
  const int64_t d = y.cols();
  ctx.run([&] {
    by_type(x.dtype(), [&](auto t) {
      using T = decltype(t);
      for (int64_t r = 0; r < y.rows(); ++r)
        for (int64_t j = 0; j < d; ++j) {
          const T* row = x.value().row<T>(r);
          const T v = value(kind.f, row[j]) * (kind.gated ? row[d + j] : T{1});
          y.value().row<T>(r)[j] = v * reference::kept<T>(dropout, r, j);
        }
    });
  });
  if (!y.needs_grad()) return y;
  ctx.tape->push(y, [x, y = y.sink(), d, kind, dropout](Ctx& ctx) {
    const Grad dx = ctx.grad(x);
    const Tensor dy = ctx.grad_of(y);
    ctx.run([&] {
      by_type(x.dtype(), [&](auto t) {
        using T = decltype(t);
        reference::clear_unless_added<T>(dx);
        for (int64_t r = 0; r < dy.rows(); ++r)
          for (int64_t j = 0; j < d; ++j) {
            const T* row = x.value().row<T>(r);
            const T g = dy.row<T>(r)[j] * reference::kept<T>(dropout, r, j);
            dx.tensor.row<T>(r)[j] += g * slope(kind.f, row[j]) * (kind.gated ? row[d + j] : T{1});
            if (kind.gated) dx.tensor.row<T>(r)[d + j] += g * value(kind.f, row[j]);
          }
      });
    });
  });
  return y;
}

}  // namespace attune
