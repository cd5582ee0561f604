#include "autograd/operations/activation.h"

#include "autograd/op_checks.h"

namespace attune {
namespace {

using ActivationOp = Var (*)(Ctx&, const Var&, ActivationKind, const Dropout&);

constexpr Activation kActivationAll[] = {Activation::none,  Activation::relu, Activation::gelu,   Activation::gelu_tanh,
                                         Activation::swish, Activation::tanh, Activation::sigmoid};

CheckedOp checked(ActivationOp op, ActivationKind kind, float rate) {
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    Dropout dropout = ctx.dropout(rate, 3);
    dropout.first_row = 20;
    return op(ctx, in[0], kind, dropout);
  };
}
std::string name(ActivationKind k, float rate) {
  return std::to_string(static_cast<int>(k.f)) + (k.gated ? " gated" : "") + " rate " + std::to_string(rate);
}

TEST(Activation, ReferenceAgreesWithFiniteDifferences) {
  for (Activation f : kActivationAll)
    for (bool gated : {false, true})
      for (float rate : {0.0f, 0.3f})
        EXPECT_LT(gradient_error(checked(activation_reference, {f, gated}, rate), {random_input({5, 14}, 1, 2.0)}),
                  1e-6)
            << name({f, gated}, rate);
}

TEST(Activation, FusedAgreesWithReference) {
  for (Activation f : kActivationAll)
    for (bool gated : {false, true})
      for (float rate : {0.0f, 0.3f})
        for (int64_t n : {0, 1, 7, 65})
          for (int64_t d : {1, 7, 16, 63, 65}) {
            const std::vector<CheckInput> in = {random_input({n, gated ? 2 * d : d}, 9)};
            expect_precise(checked(activation, {f, gated}, rate), checked(activation_reference, {f, gated}, rate), in,
                           name({f, gated}, rate) + " " + in[0].shape.text());
          }
}

TEST(Activation, GradientsAdd) {
  for (Activation f : {Activation::relu, Activation::gelu})
    for (bool gated : {false, true}) {
      const auto chained = [=](ActivationOp op) {
        return [=](Ctx& ctx, const std::vector<Var>& in) {  // x and a view of the same: its gradient comes twice
          const Var first = op(ctx, in[0], {f, gated}, ctx.dropout(0.2f, 1));
          const Var twice = op(ctx, first, {Activation::tanh, true}, {});
          return op(ctx, ctx.reshape(twice, {twice.shape().size()}), {Activation::sigmoid, true}, {});
        };
      };
      expect_precise(chained(activation), chained(activation_reference), {random_input({6, 24}, 4)}, "chain");
    }
}

TEST(Activation, LargeInputs) {
  CheckInput x = random_input({3, 40}, 2, 100.0);
  for (Activation f : kActivationAll)
    expect_precise(checked(activation, {f, false}, 0), checked(activation_reference, {f, false}, 0), {x}, name({f}, 0));
}

TEST(Activation, BitsDoNotDependOnThreadsOrInstructionSet) {
  for (Activation f : kActivationAll)
    for (bool gated : {false, true})
      expect_fixed_bits(checked(activation, {f, gated}, 0.1f), {random_input({301, 258}, 5)});
}

/// relu keeps its result, not its input: the input's memory is free for others at once.
TEST(Activation, ReluLetsItsInputGo) {
  Arena arena;
  Ctx ctx(arena);
  Tape tape;
  ctx.tape = &tape;
  std::vector<float> data(16 * 64, 0.5f);
  const Var x = ctx.input(Tensor(data.data(), {16, 64}), true);
  for (Activation f : {Activation::relu, Activation::gelu}) {
    const int64_t before = arena.in_use();
    const Var y = activation(ctx, activation(ctx, x, {Activation::tanh}), {f});
    EXPECT_EQ(arena.in_use() - before, (f == Activation::relu ? 1 : 2) * 16 * 64 * 4);
    tape.clear();
  }
}

TEST(Activation, RowsMayLieApart) {
  Arena arena;
  Ctx ctx(arena);
  const CheckInput wide = random_input({5, 40}, 8);
  std::vector<float> data(wide.values.begin(), wide.values.end()), dense;
  for (int64_t r = 0; r < 5; ++r) dense.insert(dense.end(), data.begin() + r * 40 + 3, data.begin() + r * 40 + 25);
  for (bool gated : {false, true}) {
    const ActivationKind kind{Activation::gelu, gated};
    const Var a = activation(ctx, ctx.input(Tensor(data.data(), {5, 40}).columns(3, 22)), kind);
    const Var b = activation(ctx, ctx.input(Tensor(dense.data(), {5, 22})), kind);
    EXPECT_EQ(std::memcmp(a.value().data, b.value().data, gated ? 220 : 440), 0);
  }
}

TEST(Activation, SaysWhatIsWrong) {
  Arena arena;
  Ctx ctx(arena);
  const auto says = [&](DType type, const Shape& shape, ActivationKind kind) {
    return error_of([&] { activation(ctx, ctx.input(Tensor(nullptr, type, shape)), kind); });
  };
  EXPECT_EQ(says(DType::f32, {4, 7}, {Activation::swish, true}), "[activation] a gate halves the columns, rows have 7");
  EXPECT_EQ(says(DType::i32, {4, 8}, {}), "[activation] rows are i32, not f32 or f64");
}

}  // namespace
}  // namespace attune
