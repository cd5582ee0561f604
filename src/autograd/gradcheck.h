// Checks of any operation: its backward function against finite differences, and its f32 form against an f64 one.
#pragma once
#include <functional>
#include <vector>

#include "autograd/tape.h"

namespace attune {

/// An input of a check, in double precision; it is cast down for f32 runs.
struct CheckInput {
  Shape shape;
  std::vector<double> values;
  bool differentiable = true;
};

/// Standard normal numbers times `scale`, fixed by the seed.
CheckInput random_input(const Shape& shape, uint64_t seed, double scale = 1.0);

/// The operation under test, as a function of its inputs.
using CheckedOp = std::function<Var(Ctx&, const std::vector<Var>&)>;

/// What one run gave: the result and the gradient of sum(result * cotangent) for each input, as doubles. An input that
/// no gradient reached has zeros. The cotangent is random and the same for every dtype.
struct CheckRun {
  Shape shape;
  std::vector<double> value;
  std::vector<std::vector<double>> grads;
};
CheckRun run_checked(const CheckedOp& op, const std::vector<CheckInput>& inputs, DType type,
                     ThreadPool* pool = nullptr);

/// Runs `op` in f64 and compares each differentiable input's gradient with central differences. Returns the worst
/// error, relative to the largest gradient of that input (at least 1e-3). A right gradient gives below 1e-6. Under a
/// sanitizer a sample of the elements is compared.
double gradient_error(const CheckedOp& op, const std::vector<CheckInput>& inputs, double step = 1e-5);

/// The worst distance between two runs over rows of the value and of every gradient, relative to the row's norm (at
/// least a hundredth of the mean row norm). `inputs` gives the gradients' shapes.
double row_error(const CheckRun& run, const CheckRun& exact, const std::vector<CheckInput>& inputs);

/// row_error of `fast` in f32 against `exact` in f64.
double precision_error(const CheckedOp& fast, const CheckedOp& exact, const std::vector<CheckInput>& inputs);
inline double precision_error(const CheckedOp& op, const std::vector<CheckInput>& inputs) {
  return precision_error(op, op, inputs);
}

}  // namespace attune
