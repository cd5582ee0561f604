#include "autograd/operations/select.h"

#include <algorithm>
#include <numeric>

#include "autograd/op_checks.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"

namespace attune {
namespace {

std::vector<int32_t> numbers(const Var& v) {
  return {v.value().as<int32_t>(), v.value().as<int32_t>() + v.shape().size()};
}
std::vector<float> floats(const Var& v) { return {v.value().as<float>(), v.value().as<float>() + v.shape().size()}; }
/// Random numbers of which many are equal.
std::vector<float> with_ties(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> v(n);
  for (float& x : v) x = static_cast<float>(random.below(9));
  return v;
}
CheckedOp largest(int64_t k) {
  return [k](Ctx& ctx, const std::vector<Var>& in) { return top_k(ctx, in[0], k).values; };
}

TEST(TopK, ValuesAndGradients) {
  for (const Shape& shape : {Shape{1, 1}, {7}, {3, 7}, {2, 63}, {65, 3}, {2, 65}, {2, 3, 5}, {0, 5}})
    for (int64_t k : {int64_t{0}, int64_t{1}, shape.cols() / 2, shape.cols()}) {
      const std::string where = fmt::format("{} of {}", k, shape.text());
      const CheckInput in = random_input(shape, 5);
      if (k > 0) expect_right(largest(k), {in}, where);
      expect_views_and_plan(largest(k), {in});
      std::vector<double> expected;
      for (int64_t i = 0; i < shape.rows(); ++i) {
        std::vector<double> row(in.values.begin() + i * shape.cols(), in.values.begin() + (i + 1) * shape.cols());
        std::sort(row.rbegin(), row.rend());
        expected.insert(expected.end(), row.begin(), row.begin() + k);
      }
      EXPECT_EQ(run_checked(largest(k), {in}, DType::f64).value, expected) << where;
    }
}

TEST(TopK, GradientsAddUp) {
  const CheckedOp twice = [](Ctx& ctx, const std::vector<Var>& in) {
    return multiply(ctx, top_k(ctx, in[0], 3).values, top_k(ctx, scale(ctx, in[0], -1), 3).values);
  };
  expect_right(twice, {random_input({4, 7}, 1)});
}

TEST(TopK, SameBitsForThreadsAndInstructionSets) { expect_stable(largest(5), {random_input({301, 173}, 1)}); }

TEST(TopK, OfEqualsTheFirstAndNanLast) {
  Bench b;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Var x = b.floats({2, 5}, {1, 3, 3, 1, 3, nan, -1, 2, nan, -0.0f});
  const TopK y = top_k(b.ctx, x, 5);
  EXPECT_EQ(numbers(y.ids), (std::vector<int32_t>{1, 2, 4, 0, 3, 2, 4, 1, 0, 3}));
  EXPECT_FALSE(y.ids.needs_grad());
  EXPECT_EQ(y.ids.shape().text(), "[2, 5]");
}

TEST(Argsort, RowsAreStable) {
  for (const Shape& shape : {Shape{1, 1}, {7}, {3, 65}, {2, 3, 63}, {0, 5}, {401, 173}})
    for (Order order : {Order::ascending, Order::descending}) {
      const auto keys = with_ties(static_cast<size_t>(shape.size()), 7);
      std::vector<int32_t> expected;
      for (int64_t i = 0; i < shape.rows(); ++i) {
        std::vector<int32_t> ids(static_cast<size_t>(shape.cols()));
        std::iota(ids.begin(), ids.end(), 0);
        const float* row = keys.data() + i * shape.cols();
        std::stable_sort(ids.begin(), ids.end(), [&](int32_t p, int32_t q) {
          return order == Order::ascending ? row[p] < row[q] : row[p] > row[q];
        });
        expected.insert(expected.end(), ids.begin(), ids.end());
      }
      for (int threads : {1, 2, 3}) {
        Bench b;
        ThreadPool pool(threads);
        b.ctx.pool = &pool;
        EXPECT_EQ(numbers(argsort_rows(b.ctx, b.floats(shape, keys), order)), expected);
      }
    }
}

TEST(Argsort, SegmentsStayApart) {
  const Segments segments = Segments::of_lengths({4, 0, 1, 3});
  Bench b;
  const Var keys = b.floats({8}, {2, 1, 2, 0, 5, 1, 0, 1});
  const std::vector<int32_t> up{3, 1, 0, 2, 4, 6, 5, 7}, down{0, 2, 1, 3, 4, 5, 7, 6};
  EXPECT_EQ(numbers(argsort_segments(b.ctx, keys, segments)), up);
  EXPECT_EQ(numbers(argsort_segments(b.ctx, keys, segments, Order::descending)), down);
  const Var ids = b.ids({2, 1, 2, 0, 5, 1, 0, 1});  // buckets, say
  EXPECT_EQ(numbers(argsort_segments(b.ctx, ids, segments)), up);
  EXPECT_EQ(numbers(argsort_segments(b.ctx, b.ctx.reshape(keys, {8, 1}), segments)), up);

  Var wide = b.floats({8, 2}, {2, 9, 1, 9, 2, 9, 0, 9, 5, 9, 1, 9, 0, 9, 1, 9});
  const Var column = b.ctx.input(wide.value().columns(0, 1));
  EXPECT_EQ(numbers(argsort_segments(b.ctx, column, segments)), up);

  const Var order = argsort_segments(b.ctx, keys, segments), rows = b.ctx.reshape(keys, {8, 1});
  const Var sorted = gather_rows(b.ctx, rows, order);
  EXPECT_EQ(floats(sorted), (std::vector<float>{0, 1, 2, 2, 5, 0, 1, 1}));
  EXPECT_EQ(floats(scatter_add_rows(b.ctx, sorted, order, 8)), floats(rows));
}

TEST(Argsort, LargeSegmentsOnAnyPool) {
  std::vector<int32_t> lengths;
  for (int32_t i = 0; i < 300; ++i) lengths.push_back(i);
  const Segments segments = Segments::of_lengths(lengths);
  const auto keys = with_ties(static_cast<size_t>(segments.rows()), 3);
  std::vector<int32_t> alone;
  for (int threads : {0, 1, 2, 3}) {
    Bench b;
    ThreadPool pool(std::max(threads, 1));
    b.ctx.pool = threads ? &pool : nullptr;
    const auto ids = numbers(argsort_segments(b.ctx, b.floats({segments.rows()}, keys), segments));
    if (alone.empty()) alone = ids;
    EXPECT_EQ(ids, alone);
  }
}

TEST(Select, SaysWhatIsWrong) {
  Bench b;
  const Segments segments = Segments::of_lengths({3, 2});
  EXPECT_EQ(error_of([&] { top_k(b.ctx, b.make({3, 4}), 5); }), "[top_k] the 5 largest of 4 columns");
  EXPECT_EQ(error_of([&] { top_k(b.ctx, b.make({3, 4}), -1); }), "[top_k] the -1 largest of 4 columns");
  EXPECT_EQ(error_of([&] { top_k(b.ctx, b.make({3, 4}, DType::i32), 1); }), "[top_k] the value is i32, not f32 or f64");
  EXPECT_EQ(error_of([&] { argsort_rows(b.ctx, b.make({3}, DType::i8)); }),
            "[argsort_rows] keys are i8, not f32, f64 or i32");
  EXPECT_EQ(error_of([&] {
              argsort_segments(b.ctx, b.make({5, 2}), segments);
            }),
            "[argsort_segments] keys have 2 columns, not one");
  EXPECT_EQ(error_of([&] { argsort_segments(b.ctx, b.make({6}), segments); }),
            "[argsort_segments] the segments have 5 rows, there are 6 keys");
  EXPECT_EQ(error_of([&] { argsort_segments(b.ctx, Var(), segments); }),
            "[argsort_segments] the value of keys is missing");
}

}  // namespace
}  // namespace attune
