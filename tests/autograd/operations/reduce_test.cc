#include "autograd/operations/reduce.h"

#include <algorithm>
#include <functional>

#include "autograd/op_checks.h"
#include "autograd/operations/elementwise.h"

namespace attune {
namespace {

using Values = std::vector<double>;

/// An operation and its formula on a matrix of doubles.
struct Reduction {
  const char* name;
  Var (*op)(Ctx&, const Var&);
  std::function<Values(const Values& x, int64_t rows, int64_t cols)> formula;
  bool empty_rows = true;  // works on no rows at all
};

double at(const Values& x, int64_t cols, int64_t i, int64_t j) { return x[static_cast<size_t>(i * cols + j)]; }

/// One number per row, or per column, by plain loops.
template <class F>
auto per_row(F f) {
  return [f](const Values& x, int64_t rows, int64_t cols) {
    Values y;
    for (int64_t i = 0; i < rows; ++i) y.push_back(f(Values(x.begin() + i * cols, x.begin() + (i + 1) * cols)));
    return y;
  };
}
template <class F>
auto per_column(F f) {
  return [f](const Values& x, int64_t rows, int64_t cols) {
    Values y;
    for (int64_t j = 0; j < cols; ++j) {
      Values column;
      for (int64_t i = 0; i < rows; ++i) column.push_back(at(x, cols, i, j));
      y.push_back(f(column));
    }
    return y;
  };
}
double sum_of(const Values& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}
double mean_of(const Values& v) { return sum_of(v) / static_cast<double>(v.size()); }
double max_of(const Values& v) { return *std::max_element(v.begin(), v.end()); }
Values softmax_of(const Values& x, int64_t rows, int64_t cols, bool logarithm) {
  Values y;
  for (int64_t i = 0; i < rows; ++i) {
    double s = 0;
    for (int64_t j = 0; j < cols; ++j) s += std::exp(at(x, cols, i, j));
    for (int64_t j = 0; j < cols; ++j)
      y.push_back(logarithm ? at(x, cols, i, j) - std::log(s) : std::exp(at(x, cols, i, j)) / s);
  }
  return y;
}

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> all{
      {"row_sum", row_sum, per_row(sum_of)},
      {"row_mean", row_mean, per_row(mean_of)},
      {"row_max", row_max, per_row(max_of)},
      {"column_sum", column_sum, per_column(sum_of)},
      {"column_mean", column_mean, per_column(mean_of), false},
      {"column_max", column_max, per_column(max_of), false},
      {"sum", sum, [](const Values& x, int64_t, int64_t) { return Values{sum_of(x)}; }},
      {"mean", mean, [](const Values& x, int64_t, int64_t) { return Values{mean_of(x)}; }, false},
      {"softmax", softmax, [](const Values& x, int64_t r, int64_t c) { return softmax_of(x, r, c, false); }},
      {"log_softmax", log_softmax, [](const Values& x, int64_t r, int64_t c) { return softmax_of(x, r, c, true); }}};
  return all;
}

CheckedOp checked(const Reduction& r) {
  return [&r](Ctx& ctx, const std::vector<Var>& in) { return r.op(ctx, in[0]); };
}

TEST(Reduce, ValuesAndGradients) {
  for (const Reduction& r : reductions())
    for (const Shape& shape :
         {Shape{1, 1}, {7}, {1, 7}, {7, 1}, {5, 7}, {3, 63}, {65, 3}, {2, 65}, {2, 3, 5}, {0, 5}}) {
      if (shape.size() == 0 && !r.empty_rows) continue;
      const std::string where = r.name + shape.text();
      const CheckInput in = random_input(shape, 3);
      expect_right(checked(r), {in}, where);
      expect_views_and_plan(checked(r), {in});
      const CheckRun run = run_checked(checked(r), {in}, DType::f64);
      const Values expected = r.formula(in.values, shape.rows(), shape.cols());
      ASSERT_EQ(run.value.size(), expected.size()) << where;
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(run.value[i], expected[i], 1e-13) << where;
    }
}

TEST(Reduce, Shapes) {
  Bench b;
  const Var x = b.make({2, 3, 5});
  EXPECT_EQ(row_sum(b.ctx, x).shape().text(), "[2, 3, 1]");
  EXPECT_EQ(row_max(b.ctx, x).shape().text(), "[2, 3, 1]");
  EXPECT_EQ(column_mean(b.ctx, x).shape().text(), "[1, 5]");
  EXPECT_EQ(column_max(b.ctx, x).shape().text(), "[1, 5]");
  EXPECT_EQ(sum(b.ctx, x).shape().text(), "[1]");
  EXPECT_EQ(softmax(b.ctx, x).shape().text(), "[2, 3, 5]");
}

TEST(Reduce, GradientsAddUp) {
  for (const Reduction& r : reductions()) {
    const CheckedOp twice = [&r](Ctx& ctx, const std::vector<Var>& in) {
      return add(ctx, sum(ctx, r.op(ctx, in[0])), mean(ctx, multiply(ctx, in[0], in[0])));
    };
    expect_right(twice, {random_input({5, 7}, 1)}, r.name);
  }
}

TEST(Reduce, SameBitsForThreadsAndInstructionSets) {
  for (const Reduction& r : reductions())
    for (const Shape& shape : {Shape{401, 173}, {9, 4099}}) expect_stable(checked(r), {random_input(shape, 1)});
}

TEST(Reduce, FirstOfEqualMaximaGetsTheGradient) {
  const CheckInput x{{2, 3}, {1, 4, 4, 2, 4, 2}};
  const CheckedOp rows = [](Ctx& ctx, const std::vector<Var>& in) { return sum(ctx, row_max(ctx, in[0])); };
  const CheckedOp columns = [](Ctx& ctx, const std::vector<Var>& in) { return sum(ctx, column_max(ctx, in[0])); };
  const Values by_rows = run_checked(rows, {x}, DType::f64).grads[0];
  const Values by_columns = run_checked(columns, {x}, DType::f64).grads[0];
  const double g = by_rows[1];
  EXPECT_NE(g, 0);
  EXPECT_EQ(by_rows, (Values{0, g, 0, 0, g, 0}));
  EXPECT_EQ(by_columns, (Values{0, g, g, g, 0, 0}));
}

TEST(Reduce, SoftmaxOfExtremes) {
  Bench b;
  const float inf = std::numeric_limits<float>::infinity();
  const Var x = b.floats({3, 3}, {-inf, -inf, -inf, 1000, 1000, -inf, -3e38f, 0, -3e38f});
  const Var y = softmax(b.ctx, x), z = log_softmax(b.ctx, x);
  const float* p = y.value().as<float>();
  EXPECT_EQ(std::vector<float>(p, p + 9), (std::vector<float>{0, 0, 0, 0.5f, 0.5f, 0, 0, 1, 0}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(z.value().as<float>()[i], -inf);
  EXPECT_NEAR(z.value().as<float>()[3], -0.693147f, 1e-6);
  EXPECT_EQ(z.value().as<float>()[5], -inf);
  EXPECT_EQ(z.value().as<float>()[7], 0.0f);
}

TEST(Reduce, CumulativeSumStaysInItsSequence) {
  for (const std::vector<int32_t>& lengths : {std::vector<int32_t>{5}, {1, 0, 3}, {0}, {}, {7, 2, 1}, {63, 65}}) {
    const Segments segments = Segments::of_lengths(lengths);
    const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& in) { return cumulative_sum(ctx, in[0], segments); };
    for (int64_t cols : {1, 7, 17}) {
      if (segments.rows() > 60 && cols > 1) continue;
      const CheckInput in = random_input({segments.rows(), cols}, 4);
      expect_right(op, {in});
      expect_views_and_plan(op, {in});
      const Values y = run_checked(op, {in}, DType::f64).value;
      for (int64_t s = 0; s < segments.count(); ++s)
        for (int64_t j = 0; j < cols; ++j) {
          double total = 0;
          for (int64_t t = segments.begin(s); t < segments.begin(s) + segments.length(s); ++t) {
            total += at(in.values, cols, t, j);
            EXPECT_NEAR(at(y, cols, t, j), total, 1e-13);
          }
        }
    }
  }
}

TEST(Reduce, CumulativeSumSameBits) {
  const Segments segments = Segments::of_lengths({100, 1, 0, 250, 50});
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& in) {
    return multiply(ctx, cumulative_sum(ctx, in[0], segments), in[0]);
  };
  expect_stable(op, {random_input({401, 173}, 1)});
}

TEST(Reduce, SaysWhatIsWrong) {
  Bench b;
  EXPECT_EQ(error_of([&] { row_max(b.ctx, b.make({3, 0})); }), "[row_max] the rows have no columns");
  EXPECT_EQ(error_of([&] { row_mean(b.ctx, b.make({3, 0})); }), "[row_mean] the rows have no columns");
  EXPECT_EQ(error_of([&] { column_max(b.ctx, b.make({0, 3})); }), "[column_max] there are no rows");
  EXPECT_EQ(error_of([&] { column_mean(b.ctx, b.make({0, 3})); }), "[column_mean] there are no rows");
  EXPECT_EQ(error_of([&] { mean(b.ctx, b.make({0, 3})); }), "[mean] there are no elements");
  EXPECT_EQ(error_of([&] { softmax(b.ctx, b.make({3}, DType::i32)); }), "[softmax] the value is i32, not f32 or f64");
  EXPECT_EQ(error_of([&] { sum(b.ctx, Var()); }), "[sum] the value is missing");
  const Segments segments = Segments::of_lengths({2, 3});
  EXPECT_EQ(error_of([&] {
              cumulative_sum(b.ctx, b.make({6, 2}), segments);
            }),
            "[cumulative_sum] the segments have 5 rows, the values 6");
}

}  // namespace
}  // namespace attune
