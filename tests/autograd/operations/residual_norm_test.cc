#include "autograd/operations/residual_norm.h"

#include "autograd/op_checks.h"

namespace attune {
namespace {

using ResidualNormOp = ResidualNorm (*)(Ctx&, const Var&, const Var&, const NormWeights&, const Dropout&);

/// Inputs x, s, gamma, beta of one residual_norm.
std::vector<CheckInput> inputs_of(int64_t n, int64_t d) {
  return {random_input({n, d}, 1), random_input({n, d}, 2), random_input({d}, 3), random_input({d}, 4)};
}

enum class Use { y, sum, both, plain };

/// The operation under test: some of its results, seen through a norm of both where both are used.
CheckedOp checked(ResidualNormOp op, Norm kind, Use use, float rate) {
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    const Var beta = kind == Norm::layer ? in[3] : Var();
    // One column divided by its own size is a sign: only a large epsilon leaves a gradient that is not all rounding.
    const NormWeights w{in[2], beta, kind, in[0].cols() == 1 ? 0.5f : 1e-5f};
    Dropout dropout = ctx.dropout(rate, 5);
    dropout.first_row = 100;
    const ResidualNorm first = op(ctx, in[0], use == Use::plain ? Var() : in[1], w, dropout);
    if (use == Use::sum) return first.sum;
    if (use == Use::both) return op(ctx, first.sum, first.y, w, dropout).y;
    return first.y;
  };
}

constexpr Norm kKinds[] = {Norm::layer, Norm::rms};
constexpr Use kUses[] = {Use::y, Use::sum, Use::both, Use::plain};

TEST(ResidualNorm, ReferenceAgreesWithFiniteDifferences) {
  for (Norm kind : kKinds)
    for (Use use : kUses)
      for (float rate : {0.0f, 0.3f})
        EXPECT_LT(gradient_error(checked(residual_norm_reference, kind, use, rate), inputs_of(3, 7)), 1e-6)
            << static_cast<int>(kind) << static_cast<int>(use) << rate;
}

TEST(ResidualNorm, FusedAgreesWithReference) {
  for (int64_t n : {0, 1, 7, 65})
    for (int64_t d : {1, 7, 16, 63, 65, 128})
      for (Norm kind : kKinds)
        for (Use use : kUses)
          for (float rate : {0.0f, 0.3f})
            expect_precise(checked(residual_norm, kind, use, rate), checked(residual_norm_reference, kind, use, rate),
                           inputs_of(n, d), std::to_string(n) + " x " + std::to_string(d));
}

TEST(ResidualNorm, MeanFarFromZero) {
  auto inputs = inputs_of(9, 65);
  for (double& v : inputs[0].values) v += 50;
  expect_precise(checked(residual_norm, Norm::layer, Use::y, 0),
                 checked(residual_norm_reference, Norm::layer, Use::y, 0), inputs, "mean 50");
}

TEST(ResidualNorm, BitsDoNotDependOnThreadsOrInstructionSet) {
  for (Norm kind : kKinds)
    for (Use use : kUses) expect_fixed_bits(checked(residual_norm, kind, use, 0.1f), inputs_of(301, 129));
}

TEST(ResidualNorm, OneVarMayBeBothAndGradientsAdd) {
  const auto twice = [](ResidualNormOp op) {
    return [=](Ctx& ctx, const std::vector<Var>& in) {
      const NormWeights w{in[2], in[3]};
      const Var inner = op(ctx, in[0], in[0], w, ctx.dropout(0.2f, 1)).y;
      return op(ctx, inner, in[0], w, {}).y;
    };
  };
  EXPECT_LT(gradient_error(twice(residual_norm_reference), inputs_of(3, 7)), 1e-6);
  expect_precise(twice(residual_norm), twice(residual_norm_reference), inputs_of(5, 21), "x twice");
}

TEST(ResidualNorm, PlainNormHandsXOnAsTheSum) {
  Arena arena;
  Ctx ctx(arena);
  float x[4] = {1, 2, 3, 4}, gamma[4] = {1, 1, 1, 1};
  const Var in = ctx.input(Tensor(x, {1, 4}));
  const ResidualNorm out = residual_norm(ctx, in, Var(), {ctx.input(Tensor(gamma, {4}))});
  EXPECT_EQ(out.sum.slot(), in.slot());
}

TEST(ResidualNorm, RowsMayLieApart) {
  Arena arena;
  Ctx ctx(arena);
  const CheckInput wide = random_input({5, 40}, 8);
  std::vector<float> data(wide.values.begin(), wide.values.end()), dense, ones(20, 1.0f);
  for (int64_t r = 0; r < 5; ++r) dense.insert(dense.end(), data.begin() + r * 40 + 3, data.begin() + r * 40 + 23);
  const NormWeights w{ctx.input(Tensor(ones.data(), {20}))};
  const Var apart = ctx.input(Tensor(data.data(), {5, 40}).columns(3, 20));
  const Var packed = ctx.input(Tensor(dense.data(), {5, 20}));
  const ResidualNorm a = residual_norm(ctx, apart, apart, w), b = residual_norm(ctx, packed, packed, w);
  EXPECT_EQ(std::memcmp(a.y.value().data, b.y.value().data, 400), 0);
  EXPECT_EQ(std::memcmp(a.sum.value().data, b.sum.value().data, 400), 0);
}

TEST(ResidualNorm, Rehearses) {
  Arena arena;
  arena.start_rehearsal();
  {
    Ctx ctx(arena);
    Tape tape;
    ctx.tape = &tape;
    const Var x = ctx.input(Tensor(nullptr, DType::f32, {100, 64}), true);
    const Var gamma = ctx.input(Tensor(nullptr, DType::f32, {64}), true);
    const Var y = residual_norm(ctx, x, x, {gamma, gamma}).y;
    const Tensor seed(nullptr, DType::f32, {100, 64});
    tape.backward(ctx, y, &seed);
  }
  EXPECT_GT(arena.finish_rehearsal().peak, 0);
}

TEST(ResidualNorm, SaysWhatIsWrong) {
  Arena arena;
  Ctx ctx(arena);
  const auto var = [&](DType type, const Shape& shape) { return ctx.input(Tensor(nullptr, type, shape)); };
  const Var x = var(DType::f32, {4, 256}), gamma = var(DType::f32, {256});
  const auto says = [&](const Var& x, const Var& s, const NormWeights& w) {
    return error_of([&] { residual_norm(ctx, x, s, w); });
  };
  EXPECT_EQ(says(x, {}, {var(DType::f32, {512})}), "[residual_norm] gamma has 512 elements, rows have 256");
  EXPECT_EQ(says(x, {}, {gamma, var(DType::f32, {3})}), "[residual_norm] beta has 3 elements, rows have 256");
  EXPECT_EQ(says(x, {}, {var(DType::f64, {256})}), "[residual_norm] gamma is f64, rows are f32");
  EXPECT_EQ(says(x, {}, {}), "[residual_norm] gamma is missing");
  EXPECT_EQ(says(x, var(DType::f32, {5, 256}), {gamma}), "[residual_norm] s is [5, 256], x is [4, 256]");
  EXPECT_EQ(says(x, var(DType::f64, {4, 256}), {gamma}), "[residual_norm] s is f64, x is f32");
  EXPECT_EQ(says(var(DType::i32, {4, 256}), {}, {gamma}), "[residual_norm] rows are i32, not f32 or f64");
}

}  // namespace
}  // namespace attune
