// What every operation is held to: right gradients, f32 near f64, the same bits for any thread count, instruction set
// and row stride, and a rehearsal that foresees all memory.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "autograd/gradcheck.h"
#include "checks.h"

namespace attune {

inline void expect_same_bits(const CheckRun& a, const CheckRun& b, const std::string& where) {
  EXPECT_TRUE(a.shape == b.shape) << where;
  EXPECT_TRUE(same_bits(a.value, b.value)) << "value, " << where;
  ASSERT_EQ(a.grads.size(), b.grads.size());
  for (size_t i = 0; i < a.grads.size(); ++i)
    EXPECT_TRUE(same_bits(a.grads[i], b.grads[i])) << "gradient " << i << ", " << where;
}

/// f64 gradients against finite differences, f32 against f64.
inline void expect_right(const CheckedOp& op, const std::vector<CheckInput>& inputs, const std::string& where = "") {
  EXPECT_LT(gradient_error(op, inputs), 1e-6) << where;
  EXPECT_LT(precision_error(op, inputs), 1e-4) << where;
}

/// The same bits without a pool, with 1, 2 and 3 threads, and under every instruction set that has FMA. Give it sizes
/// that are large enough for the pool to be used. `run(pool)` is one forward and backward pass.
template <class Run>
void expect_fixed_bits(Run&& run) {
  const CheckRun alone = run(nullptr);
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    expect_same_bits(run(&pool), alone, fmt::format("{} threads", threads));
  }
  if (!isa_has_fma(chosen_isa())) return;
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa)) continue;
    const IsaScope scope(isa);
    expect_same_bits(run(nullptr), alone, isa);
  }
}
inline void expect_fixed_bits(const CheckedOp& op, const std::vector<CheckInput>& inputs, DType type = DType::f32) {
  expect_fixed_bits([&](ThreadPool* pool) { return run_checked(op, inputs, type, pool); });
}

/// Every instruction set, with FMA or not, is near the reference.
inline void expect_precise(const CheckedOp& fast, const CheckedOp& exact, const std::vector<CheckInput>& inputs,
                           const std::string& where = "", double tolerance = 1e-4) {
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    EXPECT_LT(precision_error(fast, exact, inputs), tolerance) << where << ", " << isa;
  }
}

/// Both, for an operation that runs in f64 too and so is its own reference.
inline void expect_stable(const CheckedOp& op, const std::vector<CheckInput>& inputs) {
  for (DType type : {DType::f32, DType::f64}) expect_fixed_bits(op, inputs, type);
  expect_precise(op, op, inputs);
}

/// The operation on inputs whose rows lie apart, with NaN between them: the same bits as on packed ones. In a second
/// run all memory comes from a rehearsal's plan.
inline void expect_views_and_plan(const CheckedOp& op, const std::vector<CheckInput>& inputs) {
  constexpr int64_t gap = 3;
  std::vector<std::vector<float>> memory;
  for (const CheckInput& in : inputs) {
    const int64_t cols = in.shape.cols(), stride = cols + gap;
    memory.emplace_back(static_cast<size_t>(in.shape.rows() * stride + 1), std::numeric_limits<float>::quiet_NaN());
    for (int64_t i = 0; i < in.shape.size(); ++i)
      memory.back()[static_cast<size_t>(i / cols * stride + i % cols)] =
          static_cast<float>(in.values[static_cast<size_t>(i)]);
  }
  const CheckRun packed = run_checked(op, inputs, DType::f32);
  const CheckInput cotangent = random_input(packed.shape, 77);
  const std::vector<float> seed(cotangent.values.begin(), cotangent.values.end());
  Arena arena;
  CheckRun views;
  const auto step = [&] {
    Ctx ctx(arena);
    Tape tape;
    ctx.tape = &tape;
    ctx.training = true;
    views = {};
    std::vector<Var> vars;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Tensor t(memory[i].data(), inputs[i].shape);
      t.stride += gap;
      vars.push_back(ctx.input(t, inputs[i].differentiable));
    }
    Var y = op(ctx, vars);
    views.shape = y.shape();
    ctx.run([&] {
      EXPECT_TRUE(y.value().contiguous());
      views.value.assign(y.value().as<float>(), y.value().as<float>() + y.shape().size());
    });
    const Tensor start(seed.data(), y.shape());
    if (y.needs_grad()) tape.backward(ctx, y, &start);
    ctx.run([&] {
      for (const Var& v : vars) {
        views.grads.emplace_back(static_cast<size_t>(v.shape().size()), 0.0);
        if (v.has_grad()) views.grads.back().assign(v.grad().as<float>(), v.grad().as<float>() + v.shape().size());
      }
    });
  };
  step();
  expect_same_bits(views, packed, "views");
  arena.begin_step();
  arena.start_rehearsal();
  step();
  arena.adopt(arena.finish_rehearsal());
  step();
  expect_same_bits(views, packed, "planned");
  EXPECT_EQ(arena.overflows(), 0);
}

/// The message of a wrong call has this in it.
template <class F>
void expect_said(F&& f, const std::string& part) {
  const std::string error = error_of(f);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

/// Owns inputs for tests of values and messages, where no gradient is asked for.
struct Bench {
  Arena arena;
  Ctx ctx{arena};
  Var make(const Shape& shape, DType type = DType::f32) { return ctx.make(shape, type, {}); }
  Var floats(const Shape& shape, const std::vector<float>& values) {
    Var v = make(shape);
    std::copy(values.begin(), values.end(), v.value().as<float>());
    return v;
  }
  Var ids(const std::vector<int32_t>& values) {
    Var v = make({static_cast<int64_t>(values.size())}, DType::i32);
    std::copy(values.begin(), values.end(), v.value().as<int32_t>());
    return v;
  }
};

}  // namespace attune
