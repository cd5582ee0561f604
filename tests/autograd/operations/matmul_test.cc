#include "autograd/operations/matmul.h"

#include "autograd/op_checks.h"

namespace attune {
namespace {

struct MatmulCase {
  int64_t batch, m, n, k;
};

Shape stored(const MatmulCase& c, int64_t rows, int64_t cols, bool transposed) {
  if (transposed) std::swap(rows, cols);
  return c.batch ? Shape{c.batch, rows, cols} : Shape{rows, cols};
}

CheckedOp op_of(Transposed t) {
  return [t](Ctx& ctx, const std::vector<Var>& in) { return matmul(ctx, in[0], in[1], t); };
}
std::vector<CheckInput> inputs_of(const MatmulCase& c, Transposed t) {
  return {random_input(stored(c, c.m, c.k, t.left), 1), random_input(stored(c, c.k, c.n, t.right), 2)};
}

std::vector<double> naive(const MatmulCase& c, Transposed t, const std::vector<double>& a,
                          const std::vector<double>& b) {
  std::vector<double> y;
  for (int64_t q = 0; q < std::max<int64_t>(c.batch, 1); ++q)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        double s = 0;
        for (int64_t p = 0; p < c.k; ++p)
          s += a[static_cast<size_t>(q * c.m * c.k + (t.left ? p * c.m + i : i * c.k + p))] *
               b[static_cast<size_t>(q * c.k * c.n + (t.right ? j * c.k + p : p * c.n + j))];
        y.push_back(s);
      }
  return y;
}

TEST(Matmul, AllSizesAndSides) {
  for (const MatmulCase& c : {MatmulCase{0, 1, 1, 1},
                              {0, 7, 5, 3},
                              {0, 63, 2, 3},
                              {0, 7, 2, 65},
                              {0, 3, 65, 1},
                              {0, 0, 4, 3},
                              {0, 3, 0, 4},
                              {0, 3, 4, 0},
                              {3, 2, 5, 4},
                              {2, 1, 7, 3},
                              {0, 5, 1, 7}})
    for (const Transposed& t : {Transposed{}, {true, false}, {false, true}, {true, true}}) {
      const auto in = inputs_of(c, t);
      const std::string where = fmt::format("{} {} {} {} {} {}", c.batch, c.m, c.n, c.k, t.left, t.right);
      expect_right(op_of(t), in, where);
      const auto y = run_checked(op_of(t), in, DType::f64).value, expected = naive(c, t, in[0].values, in[1].values);
      ASSERT_EQ(y.size(), expected.size()) << where;
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-12) << where;
      expect_views_and_plan(op_of(t), in);
    }
}

TEST(Matmul, OneRightSideForABatch) {
  for (bool right : {false, true}) {
    const std::vector<CheckInput> in{random_input({3, 5, 4}, 1), random_input(right ? Shape{7, 4} : Shape{4, 7}, 2)};
    expect_right(op_of({false, right}), in);
    expect_views_and_plan(op_of({false, right}), in);
    EXPECT_TRUE(run_checked(op_of({false, right}), in, DType::f32).shape == (Shape{3, 5, 7}));
  }
}

TEST(Matmul, OfAValueWithItself) {
  const CheckedOp op = [](Ctx& ctx, const std::vector<Var>& in) { return matmul(ctx, in[0], in[0], {.right = true}); };
  expect_right(op, {random_input({5, 3}, 1)});
}

TEST(Matmul, SameBitsForThreadsAndInstructionSets) {
  for (const MatmulCase& c : {MatmulCase{0, 130, 70, 129}, {7, 65, 40, 63}, {2, 130, 65, 100}})
    for (const Transposed& t : {Transposed{}, {true, false}, {false, true}, {true, true}})
      expect_stable(op_of(t), inputs_of(c, t));
}

TEST(Matmul, SaysWhatIsWrong) {
  Bench b;
  const auto message = [&](const Shape& left, const Shape& right, Transposed t = {}) {
    return error_of([&] { matmul(b.ctx, b.make(left), b.make(right), t); });
  };
  EXPECT_EQ(message({3, 7}, {8, 2}), "[matmul] left has 7 columns, right has 8 rows");
  EXPECT_EQ(message({3, 7}, {7, 2}, {.right = true}), "[matmul] left has 7 columns, right has 2 rows");
  EXPECT_EQ(message({3}, {3, 2}), "[matmul] left has 1 dimensions, not 2 to 3");
  EXPECT_EQ(message({2, 3, 4}, {3, 4, 5}), "[matmul] left is a batch of 2, right of 3");
  EXPECT_EQ(message({3, 4}, {2, 4, 5}), "[matmul] left is one matrix, right a batch of 2");
  EXPECT_EQ(message({2, 3, 4}, {3, 5}, {.left = true}),
            "[matmul] a transposed batch on the left needs a batch on the right");
  EXPECT_EQ(error_of([&] {
              matmul(b.ctx, b.make({2, 2}), b.make({2, 2}, DType::f64));
            }),
            "[matmul] left is f32, right is f64");
  EXPECT_EQ(error_of([&] {
              matmul(b.ctx, b.make({2, 2}, DType::i32), b.make({2, 2}));
            }),
            "[matmul] left is i32, not f32 or f64");
  EXPECT_EQ(error_of([&] { matmul(b.ctx, b.make({2, 2}), Var()); }), "[matmul] right is missing");
}

}  // namespace
}  // namespace attune
