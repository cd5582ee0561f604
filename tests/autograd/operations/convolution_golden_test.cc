// Convolutions and their gradients against PyTorch's: tests/golden/public/convolution.json, made once by tools/golden.
#include <fstream>
#include <nlohmann/json.hpp>

#include "autograd/op_checks.h"
#include "autograd/operations/convolution.h"
#include "places.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

std::vector<float> numbers(const Json& rows) {
  std::vector<float> all;
  for (const Json& row : rows)
    for (const Json& x : row) all.push_back(x.get<float>());
  return all;
}

std::vector<GridSize> sizes_of(const Json& json) {
  std::vector<GridSize> sizes;
  for (const Json& s : json) sizes.push_back({s.at(0), s.at(1)});
  return sizes;
}

ConvolutionAxis axis_of(const Json& c, size_t axis) {
  const std::string padding = c.at("padding").at(axis);
  return {c.at("stride").at(axis), c.at("dilation").at(axis),
          padding == "valid"    ? Padding::valid
          : padding == "causal" ? Padding::causal
                                : Padding::same};
}

/// Numbers of the file have nine digits, ours are f32: a part of the largest of them.
void expect_numbers(const Tensor& got, const std::vector<float>& want, const std::string& what) {
  ASSERT_EQ(got.size(), std::ssize(want)) << what;
  float most = 0;
  for (float w : want) most = std::max(most, std::abs(w));
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got.as<float>()[i], want[i], 1e-6 * most) << what << " at " << i;
}

void compare(const Json& c) {
  const std::string name = c.at("name");
  const auto x = numbers(c.at("x")), w = numbers(c.at("weight")), b = numbers(c.at("bias")),
             cotangent = numbers(c.at("cotangent"));
  const Grids from = Grids::of_sizes(sizes_of(c.at("sizes")));
  const GridSize taps{c.at("taps").at(0), c.at("taps").at(1)};
  const GridConvolutionOptions options{axis_of(c, 0), axis_of(c, 1), c.at("groups")};
  const Grids to = convolved(from, taps, options);
  EXPECT_EQ(to.sizes, sizes_of(c.at("result_sizes"))) << name;
  const int64_t in = std::ssize(x) / from.rows(), out = std::ssize(b), ins = in / options.groups;
  Arena arena;
  Ctx ctx(arena);
  Tape tape;
  ctx.tape = &tape;
  const bool flat = c.at("flat");
  const Var vx = ctx.input(Tensor(x.data(), {from.rows(), in}), true), vb = ctx.input(Tensor(b.data(), {out}), true);
  const Shape shape = flat ? Shape{out, taps.width, ins} : Shape{out, taps.height, taps.width, ins};
  const Var vw = ctx.input(Tensor(w.data(), shape), true);
  const ConvolutionAxis& line = options.width;
  const Var y = flat ? convolution(ctx, vx, {vw, vb}, from.segments, to.segments,
                                   {line.stride, line.dilation, options.groups, line.padding})
                     : convolution(ctx, vx, {vw, vb}, from, to, options);
  expect_numbers(y.value(), numbers(c.at("out")), name);
  const Tensor start(cotangent.data(), y.shape());
  tape.backward(ctx, y, &start);
  expect_numbers(vx.grad(), numbers(c.at("dx")), name + ", gradient of x");
  expect_numbers(vw.grad(), numbers(c.at("dweight")), name + ", gradient of weight");
  expect_numbers(vb.grad(), numbers(c.at("dbias")), name + ", gradient of bias");
}

TEST(ConvolutionGolden, PyTorch) {
  std::ifstream in(test::source_dir() + "/tests/golden/public/convolution.json");
  const Json cases = in ? Json::parse(in).at("cases") : Json();
  ASSERT_GE(cases.size(), 8u);
  for (const Json& c : cases) compare(c);
}

}  // namespace
}  // namespace attune
