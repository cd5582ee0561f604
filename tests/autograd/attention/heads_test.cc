#include "autograd/attention/heads.h"

#include "autograd/op_checks.h"

namespace attune {
namespace {

struct HeadsCase {
  int64_t column, heads, dim;
};

CheckedOp unit_op(const HeadsCase& c, bool reference = false) {
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    const Var gain = in.size() > 1 ? in[1] : Var();
    return reference ? normalize_heads_reference(ctx, in[0], c.column, c.heads, c.dim, gain)
                     : normalize_heads(ctx, in[0], c.column, c.heads, c.dim, gain);
  };
}

CheckedOp product_op(const HeadsCase& c, bool reference = false) {
  return [=](Ctx& ctx, const std::vector<Var>& in) {
    return reference ? multiply_heads_reference(ctx, in[0], c.column, c.heads, in[1])
                     : multiply_heads(ctx, in[0], c.column, c.heads, in[1]);
  };
}

TEST(NormalizeHeads, ByHand) {
  Bench t;
  const Var y = normalize_heads(t.ctx, t.floats({1, 6}, {9, 3, 4, 0, 0, 9}), 1, 2, 2, t.floats({2}, {2, 5}));
  const std::vector<float> want{1.2f, 1.6f, 0, 0};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(y.value().as<float>()[i], want[i], 1e-6);
}

TEST(NormalizeHeads, RightGradientsAndPrecision) {
  for (const HeadsCase& c :
       {HeadsCase{0, 1, 1}, HeadsCase{0, 2, 3}, HeadsCase{3, 3, 7}, HeadsCase{1, 2, 16}, HeadsCase{0, 2, 65}})
    for (bool gain : {false, true}) {
      std::vector<CheckInput> in{random_input({7, c.column + c.heads * c.dim + c.column}, 1)};
      if (gain) in.push_back(random_input({c.heads}, 2));
      EXPECT_LT(gradient_error(unit_op(c, true), in), 1e-6) << c.dim;
      if (c.dim > 1) { EXPECT_LT(precision_error(unit_op(c), unit_op(c, true), in), 1e-4) << c.dim; }
    }
}

TEST(NormalizeHeads, FixedBitsViewsAndPlan) {
  const HeadsCase c{5, 8, 33};
  const std::vector<CheckInput> in{random_input({400, 280}, 1), random_input({8}, 2)};
  expect_fixed_bits(unit_op(c), in);
  expect_precise(unit_op(c), unit_op(c, true), in);
  expect_views_and_plan(unit_op(c), in);
}

TEST(MultiplyHeads, RightGradientsAndPrecision) {
  for (const HeadsCase& c : {HeadsCase{0, 1, 1}, HeadsCase{0, 2, 3}, HeadsCase{3, 3, 7}})
    for (int64_t columns : {c.dim, c.dim + 2}) {
      const std::vector<CheckInput> in{random_input({7, c.column + c.heads * c.dim + c.column}, 1),
                                       random_input({c.heads * c.dim, columns}, 2)};
      expect_right(product_op(c), in);
      expect_precise(product_op(c), product_op(c, true), in);
    }
}

TEST(MultiplyHeads, FixedBitsViewsAndPlan) {
  const HeadsCase c{5, 8, 33};
  const std::vector<CheckInput> in{random_input({400, 280}, 1), random_input({8 * 33, 33}, 2)};
  expect_fixed_bits(product_op(c), in);
  expect_precise(product_op(c), product_op(c, true), in);
  expect_views_and_plan(product_op(c), in);
}

TEST(Heads, SayWhatDoesNotFit) {
  Bench t;
  const Var x = t.make({3, 12});
  const auto unit = [&](int64_t column, int64_t heads, int64_t dim, Var gain) {
    return error_of([&] { normalize_heads(t.ctx, x, column, heads, dim, gain); });
  };
  EXPECT_EQ(unit(1, 3, 4, {}), "[normalize_heads] 3 heads of 4 need columns 1 to 13, rows have 12");
  EXPECT_EQ(unit(0, 3, 0, {}), "[normalize_heads] 3 heads of 0 columns");
  EXPECT_EQ(unit(0, 3, 4, t.make({2})), "[normalize_heads] the gain has 2 elements, there are 3 heads");
  const auto product = [&](int64_t column, int64_t heads, Var w) {
    return error_of([&] { multiply_heads(t.ctx, x, column, heads, w); });
  };
  EXPECT_EQ(product(0, 3, t.make({10, 4})), "[multiply_heads] the weights have 10 rows for 3 heads");
  EXPECT_EQ(product(4, 3, t.make({12, 4})), "[multiply_heads] 3 heads of 4 need columns 4 to 16, rows have 12");
  EXPECT_EQ(product(0, 3, t.make({12, 4}, DType::f64)), "[multiply_heads] left is f32, right is f64");
}

}  // namespace
}  // namespace attune
