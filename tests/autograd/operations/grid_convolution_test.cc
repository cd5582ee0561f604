// autograd/operations/convolution.h over pictures.
#include "autograd/op_checks.h"
#include "autograd/operations/convolution.h"

namespace attune {
namespace {

struct Case {
  std::vector<GridSize> sizes;
  int64_t in, out;
  GridSize taps;
  GridConvolutionOptions options = {};
};

std::string text(const Case& c) {
  const auto axis = [](const ConvolutionAxis& a) {
    return fmt::format("stride {} dilation {} padding {}", a.stride, a.dilation, static_cast<int>(a.padding));
  };
  return fmt::format("in {} out {} taps {} x {} groups {} height: {} width: {}", c.in, c.out, c.taps.height,
                     c.taps.width, c.options.groups, axis(c.options.height), axis(c.options.width));
}

std::vector<CheckInput> inputs_of(const Case& c) {
  return {random_input({Grids::of_sizes(c.sizes).rows(), c.in}, 1),
          random_input({c.out, c.taps.height, c.taps.width, c.in / c.options.groups}, 2), random_input({c.out}, 3)};
}

CheckedOp op_of(const Case& c) {
  const Grids from = Grids::of_sizes(c.sizes);
  return [from, to = convolved(from, c.taps, c.options), o = c.options](Ctx& ctx, const std::vector<Var>& in) {
    return convolution(ctx, in[0], {in[1], in[2]}, from, to, o);
  };
}

/// Picture by picture: every window that lies within the padded one, point by point.
std::vector<double> naive(const Case& c, const std::vector<CheckInput>& inputs) {
  const auto &x = inputs[0].values, &w = inputs[1].values, &b = inputs[2].values;
  const auto& [height, width, groups] = c.options;
  const auto before = [](const ConvolutionAxis& a, int64_t reach) {
    return a.padding == Padding::valid ? 0 : a.padding == Padding::causal ? reach : reach / 2;
  };
  const int64_t reach_y = height.dilation * (c.taps.height - 1), reach_x = width.dilation * (c.taps.width - 1);
  const int64_t top = before(height, reach_y), left = before(width, reach_x);
  const int64_t ins = c.in / groups, outs = c.out / groups;
  std::vector<double> y;
  int64_t begin = 0;
  for (const GridSize& s : c.sizes) {
    const int64_t lines = s.height + (height.padding == Padding::valid ? 0 : reach_y);
    const int64_t columns = s.width + (width.padding == Padding::valid ? 0 : reach_x);
    for (int64_t v = 0; s.height * s.width > 0 && v + reach_y < lines; v += height.stride)
      for (int64_t u = 0; u + reach_x < columns; u += width.stride)
        for (int64_t k = 0; k < c.out; ++k) {
          double total = b[static_cast<size_t>(k)];
          for (int64_t j = 0; j < c.taps.height * c.taps.width; ++j) {
            const int64_t py = v + j / c.taps.width * height.dilation - top;
            const int64_t px = u + j % c.taps.width * width.dilation - left;
            if (py < 0 || py >= s.height || px < 0 || px >= s.width) continue;
            for (int64_t i = 0; i < ins; ++i)
              total += w[static_cast<size_t>((k * c.taps.height * c.taps.width + j) * ins + i)] *
                       x[static_cast<size_t>((begin + py * s.width + px) * c.in + k / outs * ins + i)];
          }
          y.push_back(total);
        }
    begin += int64_t{s.height} * s.width;
  }
  return y;
}

void expect_values_and_gradients(const Case& c) {
  const auto in = inputs_of(c);
  expect_right(op_of(c), in, text(c));
  expect_views_and_plan(op_of(c), in);
  const std::vector<double> expected = naive(c, in);
  for (DType type : {DType::f64, DType::f32}) {
    const auto got = run_checked(op_of(c), in, type).value;
    ASSERT_EQ(got.size(), expected.size()) << text(c);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], type == DType::f64 ? 1e-12 : 1e-4) << text(c) << " at " << i;
  }
}

const std::vector<GridSize> kSizes{{3, 4}, {0, 5}, {1, 1}, {2, 3}, {4, 0}, {1, 5}, {3, 1}};

TEST(GridConvolution, EveryKernelStrideDilationGroupingAndPadding) {
  for (GridSize taps : {GridSize{1, 1}, {2, 3}, {3, 2}, {3, 3}})
    for (int64_t stride : {1, 2, 3})
      for (int64_t groups : {1, 2, 4})
        for (Padding padding : {Padding::same, Padding::causal, Padding::valid})
          expect_values_and_gradients({kSizes, 4, 4, taps, {{stride, 1, padding}, {stride, 1, padding}, groups}});
}

TEST(GridConvolution, AxesOfTheirOwn) {
  for (int64_t groups : {1, 3})
    for (const GridConvolutionOptions& o :
         {GridConvolutionOptions{{1, 1, Padding::causal}, {1, 1, Padding::same}},  // lines above, and the line itself
          {{2, 1, Padding::same}, {1, 2, Padding::valid}},
          {{3, 2, Padding::valid}, {2, 4, Padding::same}},
          {{2, 2, Padding::causal}, {4, 2, Padding::causal}}}) {
      Case c{{{5, 7}, {6, 3}, {0, 0}, {2, 9}}, 3, 3, {3, 2}, o};
      c.options.groups = groups;
      expect_values_and_gradients(c);
    }
}

TEST(GridConvolution, Patches) {
  const ConvolutionAxis patch{4, 1, Padding::valid};
  expect_values_and_gradients({{{8, 8}, {4, 12}, {9, 7}}, 3, 5, {4, 4}, {patch, patch}});
}

TEST(GridConvolution, OneLineIsASequence) {
  const Case c{{{1, 7}, {1, 0}, {1, 9}}, 5, 6, {1, 3}, {{}, {2, 1, Padding::causal}}};
  const auto in = inputs_of(c);
  const Segments from = Segments::of_lengths({7, 0, 9});
  const ConvolutionOptions options{.stride = 2, .padding = Padding::causal};
  const Segments to = convolved(from, 3, options);
  const auto sequences = [&](Ctx& ctx, const std::vector<Var>& v) {
    return convolution(ctx, v[0], {ctx.reshape(v[1], {6, 3, 5}), v[2]}, from, to, options);
  };
  for (DType type : {DType::f32, DType::f64})
    expect_same_bits(run_checked(op_of(c), in, type), run_checked(sequences, in, type), "one line");
}

TEST(GridConvolution, SameBitsForThreadsAndInstructionSets) {
  const std::vector<GridSize> sizes{{12, 9}, {1, 40}, {0, 3}, {17, 11}};
  const ConvolutionAxis two{2, 1, Padding::same}, valid{1, 2, Padding::valid};
  for (const Case& c : {Case{sizes, 32, 33, {3, 3}},
                        {sizes, 32, 40, {3, 3}, {two, two}},
                        {sizes, 32, 36, {3, 2}, {two, valid, 2}},
                        {sizes, 90, 90, {3, 3}, {{}, {}, 90}},
                        {sizes, 90, 90, {3, 3}, {two, valid, 90}}})
    expect_stable(op_of(c), inputs_of(c));
}

TEST(GridConvolution, APictureDoesNotFeelItsNeighbours) {
  const ConvolutionAxis two{2, 1, Padding::same};
  for (int64_t groups : {1, 5}) {
    const Case both{{{20, 7}, {4, 6}}, 5, 5, {3, 3}, {two, two, groups}}, alone{{{4, 6}}, 5, 5, {3, 3}, both.options};
    auto in = inputs_of(both);
    const auto together = run_checked(op_of(both), in, DType::f32).value;
    in[0] = {{24, 5}, {in[0].values.end() - 120, in[0].values.end()}};
    const auto apart = run_checked(op_of(alone), in, DType::f32).value;
    EXPECT_TRUE(same_bits({together.end() - std::ssize(apart), together.end()}, apart));
  }
}

TEST(GridConvolution, SizesOfTheResultAreKnownBefore) {
  const Grids from = Grids::of_sizes({{28, 28}, {5, 2}, {0, 9}});
  const ConvolutionAxis two{2, 1, Padding::same}, valid{1, 1, Padding::valid};
  EXPECT_EQ(convolved(from, {3, 3}, {two, {}}).sizes, (std::vector<GridSize>{{14, 28}, {3, 2}, {0, 9}}));
  EXPECT_EQ(convolved(from, {3, 3}, {valid, valid}).sizes, (std::vector<GridSize>{{26, 26}, {3, 0}, {0, 7}}));
}

TEST(GridConvolution, SaysWhatIsWrong) {
  Bench b;
  const Grids grids = Grids::of_sizes({{2, 2}, {1, 3}}), flat = Grids::of_sizes({{2, 2}, {3, 1}});
  const Var x = b.make({7, 4}), weight = b.make({2, 3, 3, 4});
  const auto message = [&](const Var& values, const Var& w, const Grids& from, const Grids& to) {
    return error_of([&] { convolution(b.ctx, values, {w}, from, to); });
  };
  EXPECT_EQ(message(b.make({6, 4}), weight, grids, grids), "[convolution] the segments have 7 rows, the values 6");
  EXPECT_EQ(message(x, b.make({2, 3, 4}), grids, grids), "[convolution] weight has 3 dimensions, not 4 to 4");
  EXPECT_EQ(message(x, b.make({2, 3, 0, 4}), grids, grids), "[convolution] a kernel without taps");
  EXPECT_EQ(message(x, weight, grids, flat), "[convolution] grid 1 becomes 1 x 3, not 3 x 1");
  EXPECT_EQ(message(x, weight, grids, Grids::of_sizes({{2, 2}})), "[convolution] 2 grids become 1");
  Grids torn = grids;
  torn.sizes[1].width = 2;
  EXPECT_EQ(message(x, weight, torn, grids), "[convolution] grid 1 of the value is 1 x 2 and has 3 rows");
  torn.sizes.pop_back();
  EXPECT_EQ(message(x, weight, grids, torn), "[convolution] the result has 1 sizes for 2 segments");
}

}  // namespace
}  // namespace attune
