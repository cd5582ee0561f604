#include "autograd/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace attune {

namespace {

/// The inputs' memory in one element type.
template <class T>
std::vector<std::vector<T>> cast(const std::vector<CheckInput>& inputs) {
  std::vector<std::vector<T>> out;
  for (const auto& in : inputs) out.emplace_back(in.values.begin(), in.values.end());
  return out;
}

template <class T>
CheckRun run(const CheckedOp& op, const std::vector<CheckInput>& inputs, ThreadPool* pool, bool backward,
             Arena& arena) {
  auto memory = cast<T>(inputs);
  Ctx ctx(arena);
  Tape tape;
  ctx.tape = &tape;
  ctx.pool = pool;
  ctx.training = true;
  CheckRun result;
  {
    std::vector<Var> vars;
    for (size_t i = 0; i < inputs.size(); ++i)
      vars.push_back(ctx.input(Tensor(memory[i].data(), inputs[i].shape), inputs[i].differentiable));
    Var y = op(ctx, vars);
    result.shape = y.shape();
    for (int64_t r = 0; r < y.rows(); ++r)
      for (int64_t c = 0; c < y.cols(); ++c) result.value.push_back(static_cast<double>(y.value().row<T>(r)[c]));
    if (backward && y.needs_grad()) {
      const CheckInput cotangent = random_input(y.shape(), 77);
      std::vector<T> seed(cotangent.values.begin(), cotangent.values.end());
      const Tensor start(seed.data(), y.shape());
      tape.backward(ctx, y, &start);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<double> g(inputs[i].values.size(), 0.0);
      if (vars[i].has_grad()) {
        const T* p = vars[i].grad().template as<T>();
        for (size_t j = 0; j < g.size(); ++j) g[j] = static_cast<double>(p[j]);
      }
      result.grads.push_back(std::move(g));
    }
  }
  tape.clear();
  return result;
}

double compare_rows(const std::vector<double>& a, const std::vector<double>& b, int64_t cols) {
  if (a.size() != b.size()) return INFINITY;
  if (a.empty() || cols == 0) return 0;
  const size_t n = static_cast<size_t>(cols), rows = a.size() / n;
  std::vector<double> norm(rows), distance(rows);
  double mean = 0;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < n; ++c) {
      const double x = a[r * n + c], y = b[r * n + c];
      norm[r] += y * y;
      distance[r] += (x - y) * (x - y);
      if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
    }
    norm[r] = std::sqrt(norm[r]);
    mean += norm[r] / static_cast<double>(rows);
  }
  double worst = 0;
  for (size_t r = 0; r < rows; ++r)
    worst = std::max(worst, std::sqrt(distance[r]) / std::max({norm[r], 0.01 * mean, 1e-12}));
  return worst;
}

}  // namespace

CheckInput random_input(const Shape& shape, uint64_t seed, double scale) {
  Random random(seed);
  CheckInput in{shape, std::vector<double>(static_cast<size_t>(shape.size()))};
  // Rounded to f32 so that both precisions start from the same numbers.
  for (double& v : in.values) v = static_cast<double>(static_cast<float>(random.normal() * scale));
  return in;
}

CheckRun run_checked(const CheckedOp& op, const std::vector<CheckInput>& inputs, DType type, ThreadPool* pool) {
  Arena arena;
  return type == DType::f64 ? run<double>(op, inputs, pool, true, arena) : run<float>(op, inputs, pool, true, arena);
}

// A sanitizer sees in a few differences what it sees in all of them, and each takes it twenty times as long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr size_t kOneIn = 11;
#else
constexpr size_t kOneIn = 1;
#endif

double gradient_error(const CheckedOp& op, const std::vector<CheckInput>& inputs, double step) {
  Arena arena;  // one for all runs: fresh pages would cost more than the operation
  const CheckRun exact = run<double>(op, inputs, nullptr, true, arena);
  const CheckInput cotangent = random_input(exact.shape, 77);
  std::vector<CheckInput> moved = inputs;
  const auto objective = [&] {
    const CheckRun r = run<double>(op, moved, nullptr, false, arena);
    double s = 0;
    for (size_t i = 0; i < r.value.size(); ++i) s += r.value[i] * cotangent.values[i];
    return s;
  };
  double worst = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].differentiable) continue;
    double largest = 1e-3;
    for (double g : exact.grads[i]) largest = std::max(largest, std::abs(g));
    for (size_t j = 0; j < inputs[i].values.size(); j += kOneIn) {
      double& x = moved[i].values[j];
      const double saved = x;
      x = saved + step;
      const double up = objective();
      x = saved - step;
      const double down = objective();
      x = saved;
      const double error = std::abs((up - down) / (2 * step) - exact.grads[i][j]) / largest;
      worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    }
  }
  return worst;
}

double row_error(const CheckRun& run, const CheckRun& exact, const std::vector<CheckInput>& inputs) {
  double worst = run.shape == exact.shape ? compare_rows(run.value, exact.value, exact.shape.cols()) : INFINITY;
  for (size_t i = 0; i < inputs.size(); ++i)
    worst = std::max(worst, compare_rows(run.grads[i], exact.grads[i], inputs[i].shape.cols()));
  return worst;
}

double precision_error(const CheckedOp& fast, const CheckedOp& exact, const std::vector<CheckInput>& inputs) {
  Arena arena;
  return row_error(run<float>(fast, inputs, nullptr, true, arena), run<double>(exact, inputs, nullptr, true, arena),
                   inputs);
}

}  // namespace attune
