#include "autograd/convolution.h"

#include "autograd/elementwise.h"
#include "autograd/op_checks.h"

namespace attune {
namespace {

struct ConvolutionCase {
  std::vector<int32_t> lengths;
  int64_t in, out, taps;
  ConvolutionOptions options;
};

std::string text(const ConvolutionCase& c) {
  return fmt::format("in {} out {} taps {} dilation {} groups {} causal {} sequences {}", c.in, c.out, c.taps,
                     c.options.dilation, c.options.groups, c.options.causal, c.lengths.size());
}

std::vector<CheckInput> inputs_of(const ConvolutionCase& c) {
  return {random_input({Segments::of_lengths(c.lengths).rows(), c.in}, 1),
          random_input({c.out, c.taps, c.in / c.options.groups}, 2)};
}

/// The segments are copied into the function, which outlives the tape.
CheckedOp op_of(const ConvolutionCase& c) {
  return [segments = Segments::of_lengths(c.lengths), o = c.options](Ctx& ctx, const std::vector<Var>& in) {
    return convolution(ctx, in[0], in[1], segments, o);
  };
}

/// Sequence by sequence, each surrounded by zeros.
std::vector<double> naive(const ConvolutionCase& c, const std::vector<double>& x, const std::vector<double>& w) {
  const int64_t ins = c.in / c.options.groups, outs = c.out / c.options.groups;
  const int64_t reach = c.options.dilation * (c.taps - 1), before = c.options.causal ? reach : reach / 2;
  std::vector<double> y;
  int64_t begin = 0;
  for (int64_t length : c.lengths) {
    std::vector<double> padded(static_cast<size_t>((length + reach) * c.in));
    std::copy(x.begin() + begin * c.in, x.begin() + (begin + length) * c.in, padded.begin() + before * c.in);
    for (int64_t t = 0; t < length; ++t)
      for (int64_t o = 0; o < c.out; ++o) {
        double total = 0;
        for (int64_t j = 0; j < c.taps; ++j)
          for (int64_t i = 0; i < ins; ++i)
            total += w[static_cast<size_t>((o * c.taps + j) * ins + i)] *
                     padded[static_cast<size_t>((t + j * c.options.dilation) * c.in + o / outs * ins + i)];
        y.push_back(total);
      }
    begin += length;
  }
  return y;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance,
                 const std::string& where) {
  ASSERT_EQ(a.size(), b.size()) << where;
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << where << " at " << i;
}

TEST(Convolution, ValuesAndGradients) {
  const std::vector<ConvolutionCase> cases{{{5}, 3, 2, 3, {}},
                                           {{1}, 1, 1, 1, {}},
                                           {{1, 2, 3}, 2, 4, 5, {}},  // windows wider than the sequences
                                           {{4, 0, 7, 1}, 3, 5, 4, {.causal = true}},
                                           {{4, 7}, 3, 2, 2, {.dilation = 3}},  // an even, dilated window
                                           {{9, 3}, 4, 6, 3, {.dilation = 2, .groups = 2, .causal = true}},
                                           {{9, 3}, 5, 5, 3, {.groups = 5}},  // a filter for each channel
                                           {{2, 8}, 17, 17, 4, {.dilation = 2, .groups = 17, .causal = true}},
                                           {{1, 5, 2, 9}, 5, 5, 4, {.dilation = 3, .groups = 5}},
                                           {{6}, 3, 6, 3, {.groups = 3}},  // two filters for each channel
                                           {{0, 0}, 3, 2, 3, {}},
                                           {{}, 3, 3, 3, {.groups = 3}},
                                           {{3}, 2, 0, 3, {}},
                                           {{63, 65}, 1, 1, 3, {}},
                                           {{7}, 33, 2, 2, {}}};
  for (const ConvolutionCase& c : cases) {
    const auto in = inputs_of(c);
    expect_right(op_of(c), in, text(c));
    expect_views_and_plan(op_of(c), in);
    const std::vector<double> expected = naive(c, in[0].values, in[1].values);
    expect_near(run_checked(op_of(c), in, DType::f64).value, expected, 1e-12, text(c));
    expect_near(run_checked(op_of(c), in, DType::f32).value, expected, 1e-4, text(c));
  }
}

TEST(Convolution, GradientsAddUp) {
  for (int64_t groups : {1, 2, 4}) {
    const ConvolutionCase c{{5, 3}, 4, 4, 3, {.groups = groups}};
    const CheckedOp op = op_of(c);
    const CheckedOp twice = [&](Ctx& ctx, const std::vector<Var>& in) {
      const Var y = op(ctx, in);
      return add(ctx, multiply(ctx, y, in[0]), op(ctx, {y, in[1]}));
    };
    expect_right(twice, inputs_of(c), text(c));
  }
}

TEST(Convolution, GradientsOfOneSideAlone) {
  for (int64_t groups : {1, 4})
    for (size_t constant : {0, 1}) {
      const ConvolutionCase c{{5, 3}, 4, 4, 3, {.groups = groups}};
      auto in = inputs_of(c);
      in[constant].differentiable = false;
      expect_right(op_of(c), in, text(c));
    }
}

TEST(Convolution, SameBitsForThreadsAndInstructionSets) {
  for (const ConvolutionCase& c : {ConvolutionCase{{100, 37, 0, 263}, 33, 40, 3, {}},
                                   {{100, 37, 263}, 32, 48, 5, {2, 4, true}},
                                   {{100, 37, 263}, 173, 173, 3, {.groups = 173}}})
    expect_stable(op_of(c), inputs_of(c));
}

TEST(Convolution, ASequenceDoesNotFeelItsNeighbours) {
  for (int64_t groups : {1, 5}) {
    const ConvolutionCase both{{70, 11}, 5, 5, 3, {.groups = groups}}, alone{{11}, 5, 5, 3, {.groups = groups}};
    auto in = inputs_of(both);
    const auto together = run_checked(op_of(both), in, DType::f32).value;
    in[0] = {{11, 5}, {in[0].values.begin() + 350, in[0].values.end()}};
    const auto apart = run_checked(op_of(alone), in, DType::f32).value;
    EXPECT_TRUE(same_bits({together.begin() + 350, together.end()}, apart));
  }
}

TEST(Convolution, SaysWhatIsWrong) {
  Bench b;
  const Segments segments = Segments::of_lengths({3, 2});
  const auto message = [&](const Var& x, const Var& weight, const ConvolutionOptions& o = {}) {
    return error_of([&] { convolution(b.ctx, x, weight, segments, o); });
  };
  const Var x = b.make({5, 4});
  EXPECT_EQ(message(b.make({6, 4}), b.make({2, 3, 4})), "[convolution] the segments have 5 rows, the values 6");
  EXPECT_EQ(message(x, b.make({2, 3})), "[convolution] weight has 2 dimensions, not 3 to 3");
  EXPECT_EQ(message(x, b.make({2, 3, 5})), "[convolution] weight has 5 inputs in 1 groups, the value has 4 columns");
  EXPECT_EQ(message(x, b.make({3, 3, 2}), {.groups = 2}), "[convolution] 3 outputs do not make 2 equal groups");
  EXPECT_EQ(message(x, b.make({2, 0, 4})), "[convolution] a kernel without taps");
  EXPECT_EQ(message(x, b.make({2, 3, 4}), {.dilation = 0}), "[convolution] a dilation of 0");
  EXPECT_EQ(message(x, b.make({2, 3, 4}), {.groups = 0}), "[convolution] 0 groups");
  EXPECT_EQ(message(x, b.make({2, 3, 4}, DType::f64)), "[convolution] the value is f32, weight is f64");
  EXPECT_EQ(message(x, Var()), "[convolution] weight is missing");
}

}  // namespace
}  // namespace attune
