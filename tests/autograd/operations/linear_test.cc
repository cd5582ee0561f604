#include "autograd/operations/linear.h"

#include "autograd/op_checks.h"
#include "autograd/parameters.h"

namespace attune {
namespace {

CheckedOp op_of(Activation f, bool bias, bool reference = false) {
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    return (reference ? linear_reference : linear)(ctx, in[0], in[1], bias ? in[2] : Var(), f);
  };
}
std::vector<CheckInput> inputs_of(int64_t n, int64_t in, int64_t out) {
  return {random_input({n, in}, 1), random_input({out, in}, 2, 0.5), random_input({out}, 3)};
}

constexpr Activation kAll[] = {Activation::none,  Activation::relu, Activation::gelu,   Activation::gelu_tanh,
                               Activation::swish, Activation::tanh, Activation::sigmoid};

TEST(Linear, NearItsReference) {
  for (Activation f : kAll)
    for (bool bias : {false, true})
      for (auto [n, in, out] : {std::array<int64_t, 3>{1, 1, 1}, {7, 63, 65}, {65, 7, 63}, {0, 4, 5}, {63, 65, 7}}) {
        const std::string where = fmt::format("{} {} {} {} {}", static_cast<int>(f), bias, n, in, out);
        EXPECT_LT(precision_error(op_of(f, bias), op_of(f, bias, true), inputs_of(n, in, out)), 1e-4) << where;
      }
}

TEST(Linear, ReferenceHasRightGradients) {
  for (Activation f : kAll) EXPECT_LT(gradient_error(op_of(f, true, true), inputs_of(3, 5, 4)), 1e-6);
}

TEST(Linear, FixedBits) {
  for (Activation f : {Activation::none, Activation::relu, Activation::gelu})
    expect_stable(op_of(f, true), inputs_of(200, 130, 190));
}

TEST(Linear, ViewsAndPlan) { expect_views_and_plan(op_of(Activation::gelu, true), inputs_of(9, 20, 33)); }

TEST(Linear, PackedPanelsGiveTheSameBits) {
  Parameters parameters;
  const int w = parameters.add("weight", {70, 50}, true), b = parameters.add("bias", {70});
  parameters.allocate();
  const CheckInput values = random_input({70, 50}, 9);
  std::copy(values.values.begin(), values.values.end(), parameters.value(w).as<float>());
  const CheckInput x = random_input({31, 50}, 10), cotangent = random_input({31, 70}, 11);
  std::vector<float> xs(x.values.begin(), x.values.end()), seed(cotangent.values.begin(), cotangent.values.end());
  const auto step = [&] {
    Arena arena;
    Ctx ctx(arena);
    Tape tape;
    ctx.tape = &tape;
    Gradients gradients(parameters);
    Var in = ctx.input(Tensor(xs.data(), Shape{31, 50}), true);
    Var y = linear(ctx, in, parameters.var(ctx, w, &gradients), parameters.var(ctx, b, &gradients), Activation::relu);
    std::vector<float> result(y.value().as<float>(), y.value().as<float>() + 31 * 70);
    const Tensor start(seed.data(), Shape{31, 70});
    tape.backward(ctx, y, &start);
    gradients.finish();
    result.insert(result.end(), in.grad().as<float>(), in.grad().as<float>() + 31 * 50);
    result.insert(result.end(), gradients.data(), gradients.data() + parameters.size());
    return result;
  };
  const auto plain = step();
  parameters.repack();
  const auto packed = step();
  ASSERT_EQ(plain.size(), packed.size());
  EXPECT_EQ(std::memcmp(plain.data(), packed.data(), plain.size() * 4), 0);
}

TEST(Linear, SaysWhatDoesNotFit) {
  Bench t;
  const Var x = t.make({2, 3}), w = t.make({5, 4});
  EXPECT_EQ(error_of([&] { linear(t.ctx, x, w); }), "[linear] rows have 3 elements, weight has 4 columns");
  EXPECT_EQ(error_of([&] {
              linear(t.ctx, x, t.make({5, 3}), t.make({4}));
            }),
            "[linear] bias has 4 elements, weight has 5 rows");
  EXPECT_EQ(error_of([&] { linear(t.ctx, x, t.make({5, 3}, DType::f64)); }), "[linear] left is f32, right is f64");
}

}  // namespace
}  // namespace attune
