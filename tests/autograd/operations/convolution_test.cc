#include "autograd/operations/convolution.h"

#include "autograd/op_checks.h"
#include "autograd/operations/elementwise.h"
#include "autograd/parameters.h"

namespace attune {
namespace {

struct ConvolutionCase {
  std::vector<int32_t> lengths;
  int64_t in, out, taps;
  ConvolutionOptions options;
};

std::string text(const ConvolutionCase& c) {
  return fmt::format("in {} out {} taps {} stride {} dilation {} groups {} padding {} sequences {}", c.in, c.out,
                     c.taps, c.options.stride, c.options.dilation, c.options.groups,
                     static_cast<int>(c.options.padding), c.lengths.size());
}

std::vector<CheckInput> inputs_of(const ConvolutionCase& c) {
  return {random_input({Segments::of_lengths(c.lengths).rows(), c.in}, 1),
          random_input({c.out, c.taps, c.in / c.options.groups}, 2), random_input({c.out}, 3)};
}

/// The segments are copied into the function, which outlives the tape.
CheckedOp op_of(const ConvolutionCase& c) {
  const Segments from = Segments::of_lengths(c.lengths);
  return [from, to = convolved(from, c.taps, c.options), o = c.options](Ctx& ctx, const std::vector<Var>& in) {
    return convolution(ctx, in[0], {in[1], in.size() > 2 ? in[2] : Var()}, from, to, o);
  };
}

/// Sequence by sequence, each surrounded by zeros; every stride-th window that fits.
std::vector<double> naive(const ConvolutionCase& c, const std::vector<CheckInput>& inputs) {
  const auto &x = inputs[0].values, &w = inputs[1].values, &b = inputs[2].values;
  const auto& o = c.options;
  const int64_t ins = c.in / o.groups, outs = c.out / o.groups, reach = o.dilation * (c.taps - 1);
  const int64_t before = o.padding == Padding::valid ? 0 : o.padding == Padding::causal ? reach : reach / 2;
  const int64_t around = o.padding == Padding::valid ? 0 : reach;
  std::vector<double> y;
  int64_t begin = 0;
  for (int64_t length : c.lengths) {
    std::vector<double> padded(static_cast<size_t>((length + around) * c.in));
    std::copy(x.begin() + begin * c.in, x.begin() + (begin + length) * c.in, padded.begin() + before * c.in);
    for (int64_t t = 0; length > 0 && t + reach < length + around; t += o.stride)
      for (int64_t k = 0; k < c.out; ++k) {
        double total = b[static_cast<size_t>(k)];
        for (int64_t j = 0; j < c.taps; ++j)
          for (int64_t i = 0; i < ins; ++i)
            total += w[static_cast<size_t>((k * c.taps + j) * ins + i)] *
                     padded[static_cast<size_t>((t + j * o.dilation) * c.in + k / outs * ins + i)];
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

void expect_values_and_gradients(const ConvolutionCase& c) {
  const auto in = inputs_of(c);
  expect_right(op_of(c), in, text(c));
  expect_views_and_plan(op_of(c), in);
  const std::vector<double> expected = naive(c, in);
  expect_near(run_checked(op_of(c), in, DType::f64).value, expected, 1e-12, text(c));
  expect_near(run_checked(op_of(c), in, DType::f32).value, expected, 1e-4, text(c));
}

constexpr Padding kPaddings[] = {Padding::same, Padding::causal, Padding::valid};

TEST(Convolution, ValuesAndGradients) {
  const std::vector<ConvolutionCase> cases{
      {{5}, 3, 2, 3, {}},
      {{1}, 1, 1, 1, {}},
      {{1, 2, 3}, 2, 4, 5, {}},  // windows wider than the sequences
      {{4, 0, 7, 1}, 3, 5, 4, {.padding = Padding::causal}},
      {{4, 7}, 3, 2, 2, {.dilation = 3}},  // an even, dilated window
      {{9, 3}, 4, 6, 3, {.dilation = 2, .groups = 2, .padding = Padding::causal}},
      {{9, 3}, 5, 5, 3, {.groups = 5}},  // a filter for each channel
      {{2, 8}, 17, 17, 4, {.dilation = 2, .groups = 17, .padding = Padding::causal}},
      {{1, 5, 2, 9}, 5, 5, 4, {.dilation = 3, .groups = 5}},
      {{3, 6}, 83, 83, 3, {.stride = 2, .groups = 83}},  // several vectors of channels
      {{6}, 3, 6, 3, {.groups = 3}},                     // two filters for each channel
      {{0, 0}, 3, 2, 3, {}},
      {{}, 3, 3, 3, {.groups = 3}},
      {{3}, 2, 0, 3, {}},
      {{3}, 0, 2, 3, {}},                                         // nothing to sum: the bias is left
      {{2, 1}, 3, 2, 4, {.padding = Padding::valid}},             // no window fits
      {{8, 5}, 3, 2, 2, {.stride = 5}},                           // rows that nobody sees
      {{12}, 3, 4, 4, {.stride = 4, .padding = Padding::valid}},  // patches
      {{63, 65}, 1, 1, 3, {}},
      {{7}, 33, 2, 2, {}}};
  for (const ConvolutionCase& c : cases) expect_values_and_gradients(c);
}

TEST(Convolution, EveryKernelStrideDilationGroupingAndPadding) {
  for (int64_t taps : {1, 2, 3, 5})
    for (int64_t stride : {1, 2, 3})
      for (int64_t dilation : {1, 2, 4})
        for (int64_t groups : {1, 2, 4})
          for (Padding padding : kPaddings)
            expect_values_and_gradients({{0, 1, 3, 8, 0}, 4, 4, taps, {stride, dilation, groups, padding}});
}

TEST(Convolution, GradientsAddUp) {
  for (int64_t groups : {1, 2, 4})
    for (int64_t stride : {1, 2}) {
      const ConvolutionCase c{{5, 3}, 4, 4, 3, {.stride = stride, .groups = groups}},
          same{{5, 3}, 4, 4, 3, {.groups = groups}};
      const CheckedOp op = op_of(c), keep = op_of(same);
      const CheckedOp twice = [&](Ctx& ctx, const std::vector<Var>& in) {
        const Var y = keep(ctx, in);
        return add(ctx, op(ctx, {multiply(ctx, y, in[0]), in[1], in[2]}), add(ctx, op(ctx, {y, in[1]}), op(ctx, in)));
      };
      expect_right(twice, inputs_of(c), text(c));
    }
}

TEST(Convolution, GradientsOfOneSideAlone) {
  for (int64_t groups : {1, 4})
    for (size_t wanted : {0, 1, 2}) {
      const ConvolutionCase c{{5, 3}, 4, 4, 3, {.stride = 2, .groups = groups}};
      auto in = inputs_of(c);
      for (size_t i = 0; i < in.size(); ++i) in[i].differentiable = i == wanted;
      expect_right(op_of(c), in, text(c));
    }
}

TEST(Convolution, SameBitsForThreadsAndInstructionSets) {
  for (const ConvolutionCase& c : {ConvolutionCase{{100, 37, 0, 263}, 33, 40, 3, {}},
                                   {{100, 37, 263}, 32, 48, 5, {1, 2, 4, Padding::causal}},
                                   {{100, 37, 263}, 48, 33, 4, {.stride = 3, .dilation = 2}},
                                   {{100, 37, 263}, 48, 70, 5, {.stride = 2, .groups = 2, .padding = Padding::valid}},
                                   {{100, 37, 263}, 173, 173, 3, {.groups = 173}},
                                   {{100, 37, 263}, 173, 173, 5, {.stride = 2, .groups = 173}}})
    expect_stable(op_of(c), inputs_of(c));
}

TEST(Convolution, ASequenceDoesNotFeelItsNeighbours) {
  for (int64_t groups : {1, 5})
    for (int64_t stride : {1, 2}) {
      const ConvolutionCase both{{70, 11}, 5, 5, 3, {.stride = stride, .groups = groups}};
      const ConvolutionCase alone{{11}, 5, 5, 3, {.stride = stride, .groups = groups}};
      auto in = inputs_of(both);
      const auto together = run_checked(op_of(both), in, DType::f32).value;
      in[0] = {{11, 5}, {in[0].values.begin() + 350, in[0].values.end()}};
      const auto apart = run_checked(op_of(alone), in, DType::f32).value;
      EXPECT_TRUE(same_bits({together.end() - std::ssize(apart), together.end()}, apart));
    }
}

TEST(Convolution, PanelsThatTheOwnerKeepsGiveTheSameBits) {
  const ConvolutionCase c{{9, 4}, 24, 70, 3, {.stride = 2}};
  const auto in = inputs_of(c);
  Parameters p;
  const int weight = p.add("weight", in[1].shape, true), bias = p.add("bias", in[2].shape);
  p.allocate();
  std::copy(in[1].values.begin(), in[1].values.end(), p.value(weight).as<float>());
  std::copy(in[2].values.begin(), in[2].values.end(), p.value(bias).as<float>());
  p.repack();
  EXPECT_FALSE(p.can_be_int8(weight));
  Gradients gradients(p);
  const CheckRun plain = run_checked(op_of(c), in, DType::f32);
  const Segments from = Segments::of_lengths(c.lengths), to = convolved(from, c.taps, c.options);
  const CheckRun packed = run_checked(
      [&](Ctx& ctx, const std::vector<Var>& v) {
        gradients.start();
        const Var w = p.var(ctx, weight, &gradients);
        EXPECT_NE(w.slot()->packed, nullptr);
        return convolution(ctx, v[0], {w, p.var(ctx, bias, &gradients)}, from, to, c.options);
      },
      {in[0]}, DType::f32);
  EXPECT_TRUE(same_bits(packed.value, plain.value));
  EXPECT_TRUE(same_bits(packed.grads[0], plain.grads[0]));
  const float* dw = gradients.grad(weight).as<float>();
  EXPECT_TRUE(same_bits({dw, dw + in[1].shape.size()}, plain.grads[1]));
}

TEST(Convolution, RowsOfTheResultAreKnownBefore) {
  const Segments from = Segments::of_lengths({0, 1, 4, 10});
  const auto lengths = [&](int64_t taps, const ConvolutionOptions& o) {
    const Segments to = convolved(from, taps, o);
    std::vector<int64_t> all;
    for (int64_t i = 0; i < to.count(); ++i) all.push_back(to.length(i));
    return all;
  };
  using Lengths = std::vector<int64_t>;
  EXPECT_EQ(lengths(5, {.dilation = 7}), (Lengths{0, 1, 4, 10}));
  EXPECT_EQ(lengths(2, {.stride = 3, .padding = Padding::causal}), (Lengths{0, 1, 2, 4}));
  EXPECT_EQ(lengths(4, {.stride = 3}), (Lengths{0, 1, 2, 4}));
  EXPECT_EQ(lengths(3, {.padding = Padding::valid}), (Lengths{0, 0, 2, 8}));
  EXPECT_EQ(lengths(3, {.stride = 2, .dilation = 2, .padding = Padding::valid}), (Lengths{0, 0, 0, 3}));
  EXPECT_EQ(lengths(1, {.padding = Padding::valid}), (Lengths{0, 1, 4, 10}));
}

TEST(Convolution, SaysWhatIsWrong) {
  Bench b;
  const Segments segments = Segments::of_lengths({3, 2});
  const auto message = [&](const Var& x, const ConvolutionWeights& w, const ConvolutionOptions& o = {}) {
    return error_of([&] { convolution(b.ctx, x, w, segments, segments, o); });
  };
  const Var x = b.make({5, 4}), weight = b.make({2, 3, 4});
  EXPECT_EQ(message(b.make({6, 4}), {weight}), "[convolution] the segments have 5 rows, the values 6");
  EXPECT_EQ(message(x, {b.make({2, 3})}), "[convolution] weight has 2 dimensions, not 3 to 3");
  EXPECT_EQ(message(x, {b.make({2, 3, 5})}), "[convolution] weight has 5 inputs in 1 groups, the value has 4 columns");
  EXPECT_EQ(message(x, {b.make({3, 3, 2})}, {.groups = 2}), "[convolution] 3 outputs do not make 2 equal groups");
  EXPECT_EQ(message(x, {b.make({2, 0, 4})}), "[convolution] a kernel without taps");
  EXPECT_EQ(message(x, {weight}, {.stride = 0}), "[convolution] a stride of 0");
  EXPECT_EQ(message(x, {weight}, {.dilation = 0}), "[convolution] a dilation of 0");
  EXPECT_EQ(message(x, {weight}, {.groups = 0}), "[convolution] 0 groups");
  EXPECT_EQ(message(x, {b.make({2, 3, 4}, DType::f64)}), "[convolution] the value is f32, weight is f64");
  EXPECT_EQ(message(x, {}), "[convolution] weight is missing");
  EXPECT_EQ(message(x, {weight, b.make({3})}), "[convolution] bias has 3 elements in 1 rows, not 2 in one");
  EXPECT_EQ(message(x, {weight, b.make({2}, DType::f64)}), "[convolution] weight is f32, bias is f64");
  EXPECT_EQ(message(x, {weight}, {.stride = 2}), "[convolution] sequence 0 becomes 2 rows, not 3");
  const Segments one = Segments::of_lengths({5});
  EXPECT_EQ(error_of([&] { convolution(b.ctx, x, {weight}, segments, one); }), "[convolution] 2 sequences become 1");
}

// --- step by step ---------------------------------------------------------------------------------------------------

/// The rows of three sequences, one step at a time, from memory in which they lie in another order and in pages.
std::vector<float> steps_of(Bench& b, const ConvolutionCase& c, const Var& x, const ConvolutionWeights& w) {
  const int64_t rows = 3, length = c.lengths[0], reach = c.options.dilation * (c.taps - 1);
  const int page_bits = 2;
  const int64_t stride = c.in + 2, count = rows * length;
  std::vector<float> memory(static_cast<size_t>(((count + 3) / 4 * 4) * stride),
                            std::numeric_limits<float>::quiet_NaN());
  std::vector<const float*> pages;
  for (int64_t i = 0; i < count; i += 4) pages.push_back(memory.data() + i * stride);
  const auto place = [&](int64_t sequence, int64_t t) { return (t * rows + sequence) * 7 % count; };
  std::vector<float> y(static_cast<size_t>(count * c.out));
  for (int64_t t = 0; t < length; ++t) {
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(x.value().row<float>(i * length + t), c.in, memory.data() + place(i, t) * stride + 1);
    const int64_t kept = std::min(t + 1, reach + 1);
    std::vector<int32_t> ids;
    for (int64_t j = t + 1 - kept; j <= t; ++j)
      for (int64_t i = 0; i < rows; ++i) ids.push_back(static_cast<int32_t>(place(i, j)));
    const Var step =
        convolution_step(b.ctx, {{pages.data(), page_bits, stride, 1}, ids.data(), kept, rows}, w, c.options);
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(step.value().row<float>(i), c.out, y.data() + (i * length + t) * c.out);
  }
  return y;
}

TEST(ConvolutionStep, StepsGiveTheBitsOfAllAtOnce) {
  for (int64_t groups : {1, 2, 68})
    for (int64_t dilation : {1, 2, 4})
      for (int64_t taps : {1, 2, 3, 5})
        for (bool has_bias : {false, true}) {
          const ConvolutionCase c{{10, 10, 10}, 68, 68, taps, {1, dilation, groups, Padding::causal}};
          const auto in = inputs_of(c);
          Bench b;
          const auto floats = [&](const CheckInput& i) {
            return b.floats(i.shape, {i.values.begin(), i.values.end()});
          };
          const Var x = floats(in[0]);
          const ConvolutionWeights w{floats(in[1]), has_bias ? floats(in[2]) : Var()};
          const Segments segments = Segments::of_lengths(c.lengths);
          const Var all = convolution(b.ctx, x, w, segments, segments, c.options);
          const std::vector<float> whole(all.value().as<float>(), all.value().as<float>() + all.shape().size());
          EXPECT_TRUE(same_bits(steps_of(b, c, x, w), whole)) << text(c);
          ThreadPool pool(3);
          b.ctx.pool = &pool;
          EXPECT_TRUE(same_bits(steps_of(b, c, x, w), whole)) << text(c);
        }
}

TEST(ConvolutionStep, SaysWhatIsWrong) {
  Bench b;
  const std::vector<float> memory(12);
  const float* page = memory.data();
  const int32_t id = 0;
  const auto message = [&](const ConvolutionWeights& w, const ConvolutionOptions& o, int64_t stride = 4,
                           int64_t kept = 1) {
    return error_of([&] { convolution_step(b.ctx, {{&page, 62, stride}, &id, kept, 1}, w, o); });
  };
  const ConvolutionWeights w{b.make({2, 3, 4})};
  const ConvolutionOptions causal{.padding = Padding::causal};
  EXPECT_EQ(message(w, {}), "[convolution] only a causal convolution of stride 1 goes step by step");
  EXPECT_EQ(message(w, {.stride = 2, .padding = Padding::causal}),
            "[convolution] only a causal convolution of stride 1 goes step by step");
  EXPECT_EQ(message(w, causal, 3), "[convolution] rows of the past are 3 wide, weight has 4 inputs");
  EXPECT_EQ(message(w, causal, 4, 0), "[convolution] the present row is missing");
  EXPECT_EQ(message({b.make({2, 3, 4}, DType::f64)}, causal), "[convolution] a step in f64, not f32");
  EXPECT_EQ(message({}, causal), "[convolution] weight is missing");
}

}  // namespace
}  // namespace attune
