#include "autograd/losses/label_loss.h"

#include <cmath>

#include "autograd/operands.h"
#include "base/portable_math.h"

namespace attune {

namespace {

double row_weight(const Tensor& weights, float scale, int64_t row) {
  return static_cast<double>(scale) * (weights ? static_cast<double>(weights.as<float>()[row]) : 1.0);
}

double log_one_plus_exp(double x) {
  return x > 0 ? x + portable::log1p(portable::exp(-x)) : portable::log1p(portable::exp(x));
}
double sigmoid_of(double x) { return x > 0 ? 1 / (1 + portable::exp(-x)) : portable::exp(x) / (1 + portable::exp(x)); }

/// A sum over rows of loss(row), and what flows back: dx(row, column) is slope(row, column) times the gradient.
template <class Loss, class Slope>
Var sum_of_rows(Ctx& ctx, const Var& x, Loss loss, Slope slope) {
  Var y = ctx.make({1}, x.dtype(), {&x});
  ctx.run([&] {
    double sum = 0;
    for (int64_t i = 0; i < x.rows(); ++i) sum += loss(x, i);
    by_type(y.dtype(), [&](auto t) { *y.value().template as<decltype(t)>() = static_cast<decltype(t)>(sum); });
  });
  if (y.needs_grad())
    ctx.tape->push(y, [x, y = y.sink(), slope](Ctx& ctx) {
      const Grad dx = ctx.grad(x);
      ctx.run([&] {
        by_type(x.dtype(), [&](auto t) {
          using T = decltype(t);
          const auto by = static_cast<double>(*ctx.grad_of(y).template as<T>());
          for (int64_t i = 0; i < x.rows(); ++i)
            for (int64_t j = 0; j < x.cols(); ++j) {
              T& to = dx.tensor.template row<T>(i)[j];
              to = static_cast<T>(by * slope(x, i, j)) + (dx.add ? to : T{0});
            }
        });
      });
    });
  return y;
}

double value_at(const Var& x, int64_t i, int64_t j) {
  return x.dtype() == DType::f64 ? x.value().row<double>(i)[j] : static_cast<double>(x.value().row<float>(i)[j]);
}

bool is_right(const SetLoss& a, int64_t row, int64_t label) {
  for (int64_t i = a.segments->begin(row); i < a.segments->begin(row + 1); ++i)
    if (a.targets.as<int32_t>()[i] == label) return true;
  return false;
}

}  // namespace

Var set_loss(Ctx& ctx, const SetLoss& a) {
  check_real("set_loss", "scores", a.scores);
  check(a.segments != nullptr, "set_loss", "segments are missing");
  check(a.segments->count() == a.scores.rows(), "set_loss", "{} sets for {} rows", a.segments->count(),
        a.scores.rows());
  check(a.targets.dtype == DType::i32 && a.targets.size() == a.segments->rows(), "set_loss",
        "{} targets, the segments have {}", a.targets.size(), a.segments->rows());
  const int64_t labels = a.scores.cols();
  ctx.run([&] {
    for (int64_t i = 0; i < a.targets.size(); ++i)
      check(a.targets.as<int32_t>()[i] < labels, "set_loss", "target {}, there are {} labels",
            a.targets.as<int32_t>()[i], labels);
  });
  const auto share = [a, labels](int64_t i) { return row_weight(a.weights, a.scale, i) / static_cast<double>(labels); };
  return sum_of_rows(
      ctx, a.scores,
      [&](const Var& x, int64_t i) {
        double sum = 0;
        for (int64_t j = 0; j < labels; ++j)
          sum += log_one_plus_exp(value_at(x, i, j)) - (is_right(a, i, j) ? value_at(x, i, j) : 0);
        return share(i) * sum;
      },
      [a, share](const Var& x, int64_t i, int64_t j) {
        return share(i) * (sigmoid_of(value_at(x, i, j)) - (is_right(a, i, j) ? 1 : 0));
      });
}

Var number_loss(Ctx& ctx, const NumberLoss& a) {
  check_real("number_loss", "values", a.values);
  check(a.values.cols() == 1, "number_loss", "values have {} columns, not 1", a.values.cols());
  check(a.targets.dtype == DType::f32 && a.targets.size() == a.values.rows(), "number_loss", "{} targets for {} rows",
        a.targets.size(), a.values.rows());
  const auto far = [a](const Var& x, int64_t i) {
    return value_at(x, i, 0) - static_cast<double>(a.targets.as<float>()[i]);
  };
  return sum_of_rows(
      ctx, a.values, [&](const Var& x, int64_t i) { return row_weight(a.weights, a.scale, i) * far(x, i) * far(x, i); },
      [a, far](const Var& x, int64_t i, int64_t) { return 2 * row_weight(a.weights, a.scale, i) * far(x, i); });
}

Var vector_loss(Ctx& ctx, const VectorLoss& a) {
  check_real("vector_loss", "values", a.values);
  check(a.targets.dtype == DType::f32 && a.targets.rows() == a.values.rows() && a.targets.cols() == a.values.cols(),
        "vector_loss", "targets are {}, values {}", a.targets.shape.text(), a.values.shape().text());
  const bool squared = a.distance == Distance::squared;
  const auto far = [a](const Var& x, int64_t i, int64_t j) {
    return value_at(x, i, j) - static_cast<double>(a.targets.row<float>(i)[j]);
  };
  const auto by = [a](int64_t i) { return row_weight(a.weights, a.scale, i) / static_cast<double>(a.targets.cols()); };
  return sum_of_rows(
      ctx, a.values,
      [&](const Var& x, int64_t i) {
        double sum = 0;
        for (int64_t j = 0; j < x.cols(); ++j) sum += squared ? far(x, i, j) * far(x, i, j) : std::abs(far(x, i, j));
        return by(i) * sum;
      },
      [far, by, squared](const Var& x, int64_t i, int64_t j) {
        const double d = far(x, i, j);
        return by(i) * (squared ? 2 * d : d > 0 ? 1 : d < 0 ? -1 : 0);
      });
}

}  // namespace attune
