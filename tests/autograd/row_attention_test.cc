#include "autograd/row_attention.h"

#include "autograd/op_checks.h"

namespace attune {
namespace {

/// Rows that read sequences of 5, 1, 0 and 18 rows: some read the same one, some one that is empty.
struct Reading {
  Segments sources = Segments::of_lengths({5, 1, 0, 18});
  std::vector<int32_t> source_of{3, 0, 2, 0, 1, 3};
  RowReads reads() const { return {&sources, source_of}; }
};
const Reading& reading() {
  static const Reading s;
  return s;
}

std::vector<CheckInput> row_attention_inputs(int64_t d, int64_t width) {
  return {random_input({6, d}, 1), random_input({24, d}, 2), random_input({d}, 3), random_input({24, width}, 4)};
}

const CheckedOp kAll = [](Ctx& ctx, const std::vector<Var>& in) {
  const RowReads reads = reading().reads();
  const Var weights = row_softmax(ctx, reads, additive_energies(ctx, reads, in[0], in[1], in[2]));
  return row_mix(ctx, reads, weights, in[3]);
};

TEST(RowAttention, IsTheFormula) {
  for (const int64_t d : {1, 7, 17}) {
    const auto in = row_attention_inputs(d, d + 2);
    const auto run = run_checked(kAll, in, DType::f64);
    const Reading& s = reading();
    for (size_t i = 0; i < s.source_of.size(); ++i) {
      const int64_t from = s.sources.begin(s.source_of[i]), n = s.sources.length(s.source_of[i]);
      std::vector<double> e(static_cast<size_t>(n)), right(static_cast<size_t>(d + 2));
      double total = 0;
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t j = 0; j < d; ++j)
          e[static_cast<size_t>(k)] += in[2].values[static_cast<size_t>(j)] *
                                       std::tanh(in[0].values[i * static_cast<size_t>(d) + static_cast<size_t>(j)] +
                                                 in[1].values[static_cast<size_t>((from + k) * d + j)]);
        total += std::exp(e[static_cast<size_t>(k)]);
      }
      for (int64_t k = 0; k < n; ++k)
        for (int64_t j = 0; j < d + 2; ++j)
          right[static_cast<size_t>(j)] +=
              std::exp(e[static_cast<size_t>(k)]) / total * in[3].values[static_cast<size_t>((from + k) * (d + 2) + j)];
      for (size_t j = 0; j < right.size(); ++j) ASSERT_NEAR(run.value[i * right.size() + j], right[j], 1e-12);
    }
    expect_right(kAll, in, fmt::format("{} numbers", d));
  }
}

TEST(RowAttention, WeightsOfASaturatedScore) {
  Bench b;
  const Segments one = Segments::of_lengths({3});
  const std::vector<int32_t> source_of{0};
  const Var w = row_softmax(b.ctx, {&one, source_of}, b.floats({3, 1}, {-200, 300, 299}));
  EXPECT_EQ(w.value().as<float>()[0], 0);
  EXPECT_NEAR(w.value().as<float>()[1], 1 / (1 + std::exp(-1.0)), 1e-6);
}

TEST(RowAttention, SameBitsAndAPlan) {
  const auto in = row_attention_inputs(65, 130);
  expect_stable(kAll, in);
  expect_views_and_plan(kAll, in);
}

TEST(RowAttention, AWrongCallGetsAMessage) {
  Bench b;
  const Segments one = Segments::of_lengths({3});
  const std::vector<int32_t> source_of{0}, wrong{1};
  const RowReads reads{&one, source_of};
  const Var keys = b.make({3, 4}), query = b.make({1, 4}), v = b.make({4}), pairs = b.make({3, 1});
  expect_said([&] { additive_energies(b.ctx, {&one, wrong}, query, keys, v); }, "a row reads sequence 1 of 1");
  expect_said([&] { additive_energies(b.ctx, reads, b.make({2, 4}), keys, v); }, "for 1 rows");
  expect_said([&] { row_softmax(b.ctx, reads, b.make({2, 1})); }, "[2, 1] for 3 pairs");
  expect_said([&] { row_mix(b.ctx, reads, pairs, b.make({2, 4})); }, "3 rows, the values 2");
}

}  // namespace
}  // namespace attune
