#include "autograd/steps.h"

#include "autograd/op_checks.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/linear.h"

namespace attune {
namespace {

// Three steps of sequences of 3, 1 and 2 rows, as a recurrent network takes them: a state goes through the weight and
// tanh again and again, fewer rows each time.
const std::vector<int32_t> kRows{0, 4, 3, 1, 5, 2};
constexpr int kFrom[] = {0, 3, 5, 6};

CheckedOp through_steps(bool based) {
  return [based](Ctx& ctx, const std::vector<Var>& in) {
    const StepLinear layer = based ? StepLinear::onto(ctx, in[0], in[1]) : StepLinear(ctx, in[1], in[2], 6);
    StepRows all(ctx, 6, 5, in[3].dtype());
    Var h = in[3];
    for (size_t t = 0; t < 3; ++t) {
      const std::span<const int32_t> index =
          std::span(kRows).subspan(static_cast<size_t>(kFrom[t]), static_cast<size_t>(kFrom[t + 1] - kFrom[t]));
      h = tanh(ctx, layer(ctx, h, index));
      all.put(ctx, h, index);
    }
    return all.all();
  };
}

/// The same by plain operations.
CheckedOp plainly(bool based) {
  return [based](Ctx& ctx, const std::vector<Var>& in) {
    Var h = in[3], sum;
    std::vector<Var> parts;
    for (size_t t = 0; t < 3; ++t) {
      const int64_t from = kFrom[t], rows = kFrom[t + 1] - from;
      const Var ids = ctx.input(Tensor(kRows.data() + from, Shape{rows}));
      const Var x = slice_rows(ctx, h, 0, rows);
      h = tanh(ctx,
               based ? add(ctx, linear(ctx, x, in[1]), gather_rows(ctx, in[0], ids)) : linear(ctx, x, in[1], in[2]));
      parts.push_back(h);
    }
    const Var ids = ctx.input(Tensor(kRows.data(), Shape{6}));
    return scatter_add_rows(ctx, concatenate_rows(ctx, parts), ids, 6);
  };
}

std::vector<CheckInput> inputs() {
  return {random_input({6, 5}, 1), random_input({5, 5}, 2), random_input({5}, 3), random_input({4, 5}, 4)};
}

TEST(Steps, AreWhatPlainOperationsGive) {
  for (const bool based : {false, true}) {
    const auto in = inputs();
    expect_right(through_steps(based), in);
    EXPECT_LT(
        row_error(run_checked(through_steps(based), in, DType::f64), run_checked(plainly(based), in, DType::f64), in),
        1e-12);
    expect_stable(through_steps(based), in);
    expect_views_and_plan(through_steps(based), in);
  }
}

TEST(Steps, FrozenWeightsAndConstantBases) {
  for (const bool based : {false, true})
    for (const size_t constant : {0, 1, 2}) {
      auto in = inputs();
      in[constant].differentiable = false;
      EXPECT_LT(gradient_error(through_steps(based), in), 1e-6) << based << constant;
    }
}

TEST(Steps, AWrongCallGetsAMessage) {
  Bench b;
  const StepLinear layer(b.ctx, b.make({5, 4}), {}, 6);
  const std::vector<int32_t> index{0, 1};
  expect_said([&] { layer(b.ctx, b.make({1, 4}), index); }, "input [1, 4] for 2 rows");
  expect_said([&] { StepLinear::onto(b.ctx, b.make({6, 3}), b.make({5, 4})); }, "3 columns to add 5 to");
}

}  // namespace
}  // namespace attune
