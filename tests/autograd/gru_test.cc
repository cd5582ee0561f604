#include "autograd/gru.h"

#include "autograd/op_checks.h"
#include "autograd/operations/linear.h"

namespace attune {
namespace {

using Row = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// r, z, n and h' of one row, as the header has it.
Row naive_step(const Row& x, const Row& g, const Row& h) {
  const size_t d = h.size();
  Row out(d);
  for (size_t j = 0; j < d; ++j) {
    const double r = sigmoid(x[j] + g[j]), z = sigmoid(x[d + j] + g[d + j]),
                 n = std::tanh(x[2 * d + j] + r * g[2 * d + j]);
    out[j] = (1 - z) * n + z * h[j];
  }
  return out;
}

Row row_of(const CheckInput& in, int64_t i) {
  const auto c = in.shape.cols();
  return {in.values.begin() + i * c, in.values.begin() + (i + 1) * c};
}

/// Sequence by sequence, row by row.
std::vector<double> naive(const std::vector<CheckInput>& in, const std::vector<int32_t>& lengths, bool backwards) {
  const auto d = static_cast<size_t>(in[1].shape.cols());
  std::vector<double> all(static_cast<size_t>(in[0].shape.rows()) * d);
  int64_t begin = 0;
  for (size_t s = 0; s < lengths.size(); ++s) {
    Row h = in.size() > 3 ? row_of(in[3], static_cast<int64_t>(s)) : Row(d);
    for (int64_t t = 0; t < lengths[s]; ++t) {
      const int64_t row = begin + (backwards ? lengths[s] - 1 - t : t);
      Row g = in[2].values;
      for (size_t o = 0; o < 3 * d; ++o)
        for (size_t j = 0; j < d; ++j) g[o] += in[1].values[o * d + j] * h[j];
      h = naive_step(row_of(in[0], row), g, h);
      std::copy(h.begin(), h.end(), all.begin() + row * static_cast<int64_t>(d));
    }
    begin += lengths[s];
  }
  return all;
}

std::vector<CheckInput> inputs_of(const std::vector<int32_t>& lengths, int64_t d, bool first) {
  std::vector<CheckInput> in{random_input({Segments::of_lengths(lengths).rows(), 3 * d}, 1),
                             random_input({3 * d, d}, 2, 1 / std::sqrt(static_cast<double>(d))),
                             random_input({3 * d}, 3)};
  if (first) in.push_back(random_input({static_cast<int64_t>(lengths.size()), d}, 4));
  return in;
}

CheckedOp op_of(const std::vector<int32_t>& lengths, bool backwards) {
  return [order = std::make_shared<StepOrder>(Segments::of_lengths(lengths), backwards)](Ctx& ctx,
                                                                                         const std::vector<Var>& in) {
    return gru_sequence(ctx, {in[0], in[1], in[2], in.size() > 3 ? in[3] : Var(), order});
  };
}

TEST(Gru, WholeSequencesAreTheFormula) {
  const std::vector<std::vector<int32_t>> batches{{4}, {1}, {2, 5, 1, 5}, {0, 3, 0}, {}, {0}, {1, 2, 3}};
  for (const auto& lengths : batches)
    for (const bool backwards : {false, true})
      for (const bool first : {false, true})
        for (const int64_t d : {1, 5}) {
          const auto in = inputs_of(lengths, d, first);
          const auto op = op_of(lengths, backwards);
          const std::string where = fmt::format("{} sequences, {} numbers, {} {}", lengths.size(), d, backwards, first);
          const auto run = run_checked(op, in, DType::f64);
          const auto right = naive(in, lengths, backwards);
          ASSERT_EQ(run.value.size(), right.size());
          for (size_t i = 0; i < right.size(); ++i) ASSERT_NEAR(run.value[i], right[i], 1e-12) << where;
          expect_right(op, in, where);
        }
}

TEST(Gru, MoreThanAPack) {
  const auto in = inputs_of({1, 2}, 17, true);
  expect_right(op_of({1, 2}, false), in);
}

TEST(Gru, SameBitsAndAPlan) {
  const std::vector<int32_t> lengths{9, 17, 10, 10, 1};
  const auto in = inputs_of(lengths, 65, true);
  expect_stable(op_of(lengths, true), in);
  expect_views_and_plan(op_of(lengths, false), in);
}

TEST(Gru, AStepIsARowOfASequence) {
  // Three rows go on, of a state of five.
  const std::vector<CheckInput> in{random_input({3, 21}, 1), random_input({3, 21}, 2), random_input({5, 7}, 3)};
  const CheckedOp op = [](Ctx& ctx, const std::vector<Var>& v) { return gru_cell(ctx, v[0], v[1], v[2]); };
  const auto run = run_checked(op, in, DType::f64);
  for (int64_t i = 0; i < 3; ++i) {
    const Row right = naive_step(row_of(in[0], i), row_of(in[1], i), row_of(in[2], i));
    for (size_t j = 0; j < 7; ++j) EXPECT_NEAR(run.value[static_cast<size_t>(i) * 7 + j], right[j], 1e-12);
  }
  for (size_t j = 21; j < 35; ++j) EXPECT_EQ(run.grads[2][j], 0);
  expect_right(op, in);
  expect_stable(op, in);
  expect_views_and_plan(op, in);
}

TEST(Gru, AWrongCallGetsAMessage) {
  Bench b;
  const auto order = std::make_shared<StepOrder>(Segments::of_lengths({2}));
  const Var gates = b.make({2, 6}), weight = b.make({6, 2}), bias = b.make({6});
  expect_said(
      [&] {
        gru_sequence(b.ctx, {b.make({3, 6}), weight, bias, {}, order});
      },
      "steps over 2 rows, there are 3");
  expect_said([&] { gru_sequence(b.ctx, {gates, b.make({6, 3}), bias, {}, order}); }, "do not go together");
  expect_said([&] { gru_sequence(b.ctx, {gates, weight, bias, b.make({2, 2}), order}); }, "for 1 sequences");
  expect_said([&] { gru_cell(b.ctx, gates, gates, b.make({2, 3})); }, "for states of 3 numbers");
  expect_said([&] { gru_cell(b.ctx, gates, gates, b.make({1, 2})); }, "1 of states");
}

TEST(StepOrder, LongestFirstAndNoRowTwice) {
  const StepOrder o(Segments::of_lengths({2, 0, 3, 2}));
  EXPECT_EQ(o.order, (std::vector<int32_t>{2, 0, 3, 1}));
  EXPECT_EQ(o.active, (std::vector<int32_t>{3, 3, 1}));
  EXPECT_EQ(o.row, (std::vector<int32_t>{2, 0, 5, 3, 1, 6, 4}));
  const StepOrder back(Segments::of_lengths({2, 0, 3, 2}), true);
  EXPECT_EQ(back.row, (std::vector<int32_t>{4, 1, 6, 3, 0, 5, 2}));
  EXPECT_EQ(StepOrder(Segments()).steps(), 0);
}

}  // namespace
}  // namespace attune
