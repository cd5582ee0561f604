#include "autograd/operations/elementwise.h"

#include <functional>

#include "autograd/op_checks.h"

namespace attune {
namespace {

struct OneOperand {
  const char* name;
  std::function<Var(Ctx&, const Var&)> op;
  double (*formula)(double);
  bool positive = false;
};
const std::vector<OneOperand>& one_operand() {
  static const std::vector<OneOperand> all{
      {"scale", [](Ctx& c, const Var& x) { return scale(c, x, -2.5); }, [](double x) { return -2.5 * x; }},
      {"add_constant", [](Ctx& c, const Var& x) { return add_constant(c, x, 0.75); },
       [](double x) { return x + 0.75; }},
      {"exp", [](Ctx& c, const Var& x) { return exp(c, x); }, [](double x) { return std::exp(x); }},
      {"log", [](Ctx& c, const Var& x) { return log(c, x); }, [](double x) { return std::log(x); }, true},
      {"tanh", [](Ctx& c, const Var& x) { return tanh(c, x); }, [](double x) { return std::tanh(x); }},
      {"sigmoid", [](Ctx& c, const Var& x) { return sigmoid(c, x); }, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"sqrt", [](Ctx& c, const Var& x) { return sqrt(c, x); }, [](double x) { return std::sqrt(x); }, true}};
  return all;
}

struct TwoOperands {
  const char* name;
  Var (*op)(Ctx&, const Var&, const Var&);
  double (*formula)(double, double);
};
constexpr TwoOperands kTwoOperands[] = {{"add", add, [](double a, double b) { return a + b; }},
                                        {"subtract", subtract, [](double a, double b) { return a - b; }},
                                        {"multiply", multiply, [](double a, double b) { return a * b; }},
                                        {"divide", divide, [](double a, double b) { return a / b; }}};

/// Numbers between 0.5 and 3 or so: safe to divide by and to take the logarithm of.
CheckInput positive_input(const Shape& shape, uint64_t seed) {
  CheckInput in = random_input(shape, seed);
  for (double& v : in.values) v = static_cast<double>(static_cast<float>(0.5 + std::abs(v)));
  return in;
}
CheckInput input_for(const OneOperand& f, const Shape& shape) {
  return f.positive ? positive_input(shape, 1) : random_input(shape, 1);
}
CheckedOp checked(const OneOperand& f) {
  return [&f](Ctx& ctx, const std::vector<Var>& in) { return f.op(ctx, in[0]); };
}
CheckedOp checked(const TwoOperands& f) {
  return [&f](Ctx& ctx, const std::vector<Var>& in) { return f.op(ctx, in[0], in[1]); };
}

TEST(Elementwise, OneOperand) {
  for (const OneOperand& f : one_operand())
    for (const Shape& shape : {Shape{1}, {}, {7, 1}, {3, 7}, {2, 63}, {2, 65}, {2, 3, 5}, {0, 5}, {4, 0}}) {
      const CheckInput in = input_for(f, shape);
      expect_right(checked(f), {in}, f.name + shape.text());
      expect_views_and_plan(checked(f), {in});
      const auto y = run_checked(checked(f), {in}, DType::f64).value;
      ASSERT_EQ(y.size(), in.values.size());
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], f.formula(in.values[i]), 1e-14) << f.name;
    }
}

TEST(Elementwise, TwoOperands) {
  struct Pair {
    Shape a, b;
  };
  for (const TwoOperands& f : kTwoOperands)
    for (const Pair& p : {Pair{{1}, {1}},
                          {{3, 7}, {3, 7}},
                          {{2, 3, 5}, {2, 3, 5}},
                          {{0, 5}, {0, 5}},
                          {{3, 7}, {7}},
                          {{3, 65}, {1, 65}},
                          {{2, 3, 5}, {5}},
                          {{0, 65}, {65}},
                          {{1, 5}, {5}},
                          {{3, 63}, {3, 1}},
                          {{7, 2}, {7, 1}},
                          {{2, 3, 5}, {2, 3, 1}},
                          {{0, 5}, {0, 1}},
                          {{7, 0}, {7, 1}},
                          {{3, 65}, {1}},
                          {{5, 1}, {1, 1}},
                          {{0, 3}, {1}},
                          {{4}, {}}}) {
      const std::string where = f.name + p.a.text() + p.b.text();
      const std::vector<CheckInput> in{random_input(p.a, 1), positive_input(p.b, 2)};
      expect_right(checked(f), in, where);
      expect_views_and_plan(checked(f), in);
      const auto y = run_checked(checked(f), in, DType::f64).value;
      const int64_t cols = p.a.cols();
      const bool by_row = p.b.rows() == 1 && p.b.cols() == cols, by_column = p.b.cols() == 1;
      for (int64_t i = 0; i < p.a.size(); ++i) {
        const int64_t at = p.b == p.a ? i : p.b.size() == 1 ? 0 : by_row ? i % cols : by_column ? i / cols : -1;
        const double expected = f.formula(in[0].values[static_cast<size_t>(i)], in[1].values[static_cast<size_t>(at)]);
        EXPECT_NEAR(y[static_cast<size_t>(i)], expected, 1e-14) << where;
      }
    }
}

TEST(Elementwise, GradientsOfOneSideAlone) {
  for (const TwoOperands& f : kTwoOperands)
    for (const Shape& b : {Shape{3, 7}, {7}, {3, 1}, {1}})
      for (int constant : {0, 1}) {
        std::vector<CheckInput> in{random_input({3, 7}, 1), positive_input(b, 2)};
        in[static_cast<size_t>(constant)].differentiable = false;
        expect_right(checked(f), in, f.name + b.text());
      }
}

TEST(Elementwise, OfAValueWithItselfAndTwice) {
  const CheckedOp op = [](Ctx& ctx, const std::vector<Var>& in) {
    Var squares = multiply(ctx, in[0], in[0]);
    return add(ctx, subtract(ctx, squares, in[0]), divide(ctx, in[0], squares));
  };
  expect_right(op, {positive_input({3, 5}, 1)});
}

TEST(Elementwise, SameBitsForThreadsAndInstructionSets) {
  for (const OneOperand& f : one_operand()) expect_stable(checked(f), {input_for(f, {233, 173})});
  for (const TwoOperands& f : kTwoOperands)
    for (const Shape& b : {Shape{233, 173}, {173}, {233, 1}, {1}})
      expect_stable(checked(f), {random_input({233, 173}, 1), positive_input(b, 2)});
}

TEST(Elementwise, EdgesOfTheNumbers) {
  Bench b;
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const Var x = b.floats({6}, {0.0f, -0.0f, -1.0f, inf, nan, 1.0f});
    const Var logs = log(b.ctx, x), roots = sqrt(b.ctx, x), exps = exp(b.ctx, x), tanhs = tanh(b.ctx, x);
    const float* y = logs.value().as<float>();
    EXPECT_EQ(y[0], -inf);
    EXPECT_EQ(y[1], -inf);
    EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[4]));
    EXPECT_EQ(y[3], inf);
    EXPECT_EQ(y[5], 0.0f);
    EXPECT_TRUE(std::isnan(roots.value().as<float>()[2]));
    EXPECT_GT(exps.value().as<float>()[3], 3e38f);
    for (const Var& v : {exps, tanhs, sigmoid(b.ctx, x)}) EXPECT_TRUE(std::isnan(v.value().as<float>()[4])) << isa;
  }
}

TEST(Elementwise, SaysWhatIsWrong) {
  Bench b;
  EXPECT_EQ(error_of([&] {
              add(b.ctx, b.make({3, 7}), b.make({8}));
            }),
            "[add] [8] does not spread over [3, 7]: it needs that shape, one row, one column or one number");
  EXPECT_EQ(error_of([&] {
              multiply(b.ctx, b.make({3, 7}), b.make({4, 1}));
            }),
            "[multiply] [4, 1] does not spread over [3, 7]: it needs that shape, one row, one column or one number");
  EXPECT_EQ(error_of([&] { divide(b.ctx, b.make({3}), b.make({3}, DType::f64)); }),
            "[divide] left is f32, right is f64");
  EXPECT_EQ(error_of([&] { subtract(b.ctx, b.make({3}), b.make({3}, DType::i32)); }),
            "[subtract] right is i32, not f32 or f64");
  EXPECT_EQ(error_of([&] { exp(b.ctx, b.make({3}, DType::i8)); }), "[exp] the value is i8, not f32 or f64");
  EXPECT_EQ(error_of([&] { tanh(b.ctx, Var()); }), "[tanh] the value is missing");
}

}  // namespace
}  // namespace attune
