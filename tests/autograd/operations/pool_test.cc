#include "autograd/operations/pool.h"

#include <algorithm>

#include "autograd/op_checks.h"
#include "autograd/operations/elementwise.h"

namespace attune {
namespace {

using Pool = Var (*)(Ctx&, const Var&, const Segments&);
struct Kind {
  const char* name;
  Pool op;
  std::function<double(const std::vector<double>&)> formula;  // of a column that has rows
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"mean", segment_mean,
       [](const std::vector<double>& c) {
         double sum = 0;
         for (const double x : c) sum += x;
         return sum / static_cast<double>(c.size());
       }},
      {"root sum", segment_root_sum,
       [](const std::vector<double>& c) {
         double sum = 0;
         for (const double x : c) sum += x;
         return sum / std::sqrt(static_cast<double>(c.size()));
       }},
      {"max", segment_max, [](const std::vector<double>& c) { return *std::max_element(c.begin(), c.end()); }}};
  return all;
}

CheckedOp checked(const Kind& k, const Segments& segments) {
  return [&k, &segments](Ctx& ctx, const std::vector<Var>& in) { return k.op(ctx, in[0], segments); };
}

TEST(SegmentPool, ValuesAndGradients) {
  for (const Kind& k : kinds())
    for (const std::vector<int32_t>& lengths : {std::vector<int32_t>{5}, {1, 0, 3}, {0}, {}, {7, 2, 1}, {33, 9}})
      for (const int64_t cols : {1, 7, 17}) {
        const Segments segments = Segments::of_lengths(lengths);
        const CheckInput in = random_input({segments.rows(), cols}, 5);
        const std::string where = fmt::format("{}, {} sequences, {} columns", k.name, lengths.size(), cols);
        expect_right(checked(k, segments), {in}, where);
        expect_views_and_plan(checked(k, segments), {in});
        const std::vector<double> y = run_checked(checked(k, segments), {in}, DType::f64).value;
        ASSERT_EQ(std::ssize(y), segments.count() * cols);
        for (int64_t s = 0; s < segments.count(); ++s)
          for (int64_t j = 0; j < cols; ++j) {
            std::vector<double> column;
            for (int64_t i = 0; i < segments.length(s); ++i)
              column.push_back(in.values[static_cast<size_t>((segments.begin(s) + i) * cols + j)]);
            EXPECT_NEAR(y[static_cast<size_t>(s * cols + j)], column.empty() ? 0 : k.formula(column), 1e-13) << where;
          }
      }
}

TEST(SegmentPool, GradientsAddUp) {
  const Segments segments = Segments::of_lengths({3, 0, 4});
  for (const Kind& k : kinds()) {
    const CheckedOp twice = [&](Ctx& ctx, const std::vector<Var>& in) {
      return add(ctx, k.op(ctx, in[0], segments), k.op(ctx, multiply(ctx, in[0], in[0]), segments));
    };
    expect_right(twice, {random_input({7, 5}, 1)}, k.name);
  }
}

TEST(SegmentPool, SameBitsForThreadsAndInstructionSets) {
  const Segments segments = Segments::of_lengths({100, 1, 0, 250, 50});
  for (const Kind& k : kinds()) expect_stable(checked(k, segments), {random_input({401, 173}, 1)});
}

TEST(SegmentPool, FirstOfEqualMaximaGetsTheGradient) {
  const Segments segments = Segments::of_lengths({3});
  const CheckInput x{{3, 2}, {4, 1, 4, 2, 3, 2}};
  const std::vector<double> d = run_checked(checked(kinds().back(), segments), {x}, DType::f64).grads[0];
  EXPECT_NE(d[0], 0);
  EXPECT_NE(d[3], 0);
  EXPECT_EQ(d, (std::vector<double>{d[0], 0, 0, d[3], 0, 0}));
}

TEST(SegmentPool, MixturesByTheirOwnSoftmax) {
  for (const std::vector<int32_t>& lengths : {std::vector<int32_t>{5}, {1, 0, 3}, {0}, {}, {7, 2}})
    for (const int64_t r : {1, 3}) {
      const Segments segments = Segments::of_lengths(lengths);
      const int64_t n = segments.rows(), d = 5;
      const std::vector<CheckInput> in{random_input({n, d}, 1), random_input({n, r}, 2)};
      const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& v) {
        return segment_mix(ctx, v[0], segment_softmax(ctx, v[1], segments), segments);
      };
      expect_right(op, in);
      expect_views_and_plan(op, in);
      const std::vector<double> y = run_checked(op, in, DType::f64).value;
      ASSERT_EQ(std::ssize(y), segments.count() * r * d);
      for (int64_t s = 0; s < segments.count(); ++s)
        for (int64_t k = 0; k < r; ++k)
          for (int64_t j = 0; j < d; ++j) {
            double sum = 0, all = 0;
            for (int64_t i = segments.begin(s); i < segments.begin(s + 1); ++i) {
              const double e = std::exp(in[1].values[static_cast<size_t>(i * r + k)]);
              sum += e * in[0].values[static_cast<size_t>(i * d + j)];
              all += e;
            }
            EXPECT_NEAR(y[static_cast<size_t>((s * r + k) * d + j)], all > 0 ? sum / all : 0, 1e-13);
          }
    }
}

TEST(SegmentPool, MixturesHaveTheSameBits) {
  const Segments segments = Segments::of_lengths({100, 1, 0, 250, 50});
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& v) {
    return segment_mix(ctx, v[0], segment_softmax(ctx, v[1], segments), segments);
  };
  expect_stable(op, {random_input({401, 73}, 1), random_input({401, 4}, 2)});
}

TEST(SegmentPool, SaysWhatIsWrong) {
  Bench b;
  const Segments segments = Segments::of_lengths({2, 3});
  EXPECT_EQ(error_of([&] {
              segment_mean(b.ctx, b.make({6, 2}), segments);
            }),
            "[segment_mean] the segments have 5 rows, the values 6");
  EXPECT_EQ(error_of([&] {
              segment_mix(b.ctx, b.make({5, 2}), b.make({4, 1}), segments);
            }),
            "[segment_mix] weights of 4 rows for 5");
  EXPECT_EQ(error_of([&] { segment_max(b.ctx, b.make({5}, DType::i32), segments); }),
            "[segment_max] the value is i32, not f32 or f64");
}

}  // namespace
}  // namespace attune
