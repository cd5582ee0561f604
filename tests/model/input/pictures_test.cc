// Inputs that read pictures: patches and convolutions against their formulas, positions on two axes, gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "autograd/op_checks.h"
#include "checks.h"
#include "data/files/layout.h"
#include "model/input/input.h"
#include "model/model.h"

namespace attune {
namespace {

/// Pictures of these sizes with so many numbers a pixel.
Rows random_pictures(const std::vector<std::vector<int32_t>>& sizes, int64_t width, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Rows r;
  r.width = width;
  r.axes = 2;
  for (const auto& s : sizes) {
    add_grid_places(s, r.places);
    r.segments.add(s[0] * s[1]);
  }
  for (int64_t i = 0; i < r.rows() * width; ++i) r.values.push_back(normal(random));
  return r;
}

/// An encoder of one input and no layers to speak of: the input alone.
struct InputLab {
  ModelOptions options;
  ModelSizes sizes;
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  std::unique_ptr<Input> input;

  InputLab(const Choice& kind, const Choice& position, int64_t width, const std::vector<int64_t>& grid) {
    options.d_model = 6;
    options.dropout = 0;
    options.input = kind;
    options.position = position;
    sizes.source_width = width;
    sizes.source_grid = grid;
    sizes.longest = 100;
    const SideSetup side{options, sizes, {"transformer"}, "model.kind"};
    input = make_input({side}, Blueprint(shared, "encoder"));
    parameters.allocate();
    initialize(parameters, shared.inits, 3);
    for (int64_t i = 0; i < parameters.size(); ++i) parameters.data()[i] += 0.01f * static_cast<float>(i % 7);
    parameters.repack();
  }
  const float* weight(const std::string& name) const {
    for (const NamedParameter& p : parameters.named())
      if (p.name == "encoder." + name) return parameters.data() + p.offset;
    throw std::logic_error("no parameter " + name);
  }
};

/// Nothing would be left of it.
TEST(PatchesInput, APictureSmallerThanAPatchIsRefused) {
  const InputLab lab({"patches", {{"size", int64_t{4}}}}, {"sinusoidal"}, 1, {8, 8});
  const Rows rows = random_pictures({{8, 8}, {3, 5}}, 1, 1);
  Arena arena;
  Ctx ctx(arena);
  EXPECT_NE(error_of(
                [&] {
                  (*lab.input)({ctx, lab.parameters}, rows, {});
                },
                ErrorKind::data)
                .find("a picture of 3 x 5 pixels is smaller than a patch of 4 x 4"),
            std::string::npos);
}

TEST(PatchesInput, IsAMatrixTimesEachSquare) {
  const InputLab lab({"patches", {{"size", int64_t{3}}}}, {"none"}, 2, {9, 9});
  const Rows rows = random_pictures({{9, 6}, {4, 7}}, 2, 1);  // of the second, a line and a column are left out
  Arena arena;
  Ctx ctx(arena);
  const Pass pass{ctx, lab.parameters};
  const Encoded e = (*lab.input)(pass, rows);
  ASSERT_EQ(e.rows->segments.start, (std::vector<int32_t>{0, 6, 8}));
  EXPECT_EQ(e.rows->places, (Column<int32_t>{0, 0, 0, 1, 1, 0, 1, 1, 2, 0, 2, 1, 0, 0, 0, 1}));
  const float *w = lab.weight("input.weight"), *b = lab.weight("input.bias");
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t picture = i < 6 ? 0 : 1, first = rows.segments.begin(picture), columns = picture ? 7 : 6;
    const int64_t y = e.rows->places[static_cast<size_t>(2 * i)], x = e.rows->places[static_cast<size_t>(2 * i + 1)];
    for (int64_t o = 0; o < 6; ++o) {
      double sum = static_cast<double>(b[o]);
      for (int64_t dy = 0; dy < 3; ++dy)
        for (int64_t dx = 0; dx < 3; ++dx)
          for (int64_t c = 0; c < 2; ++c)
            sum += static_cast<double>(w[((o * 3 + dy) * 3 + dx) * 2 + c]) *
                   static_cast<double>(
                       rows.values[static_cast<size_t>((first + (3 * y + dy) * columns + 3 * x + dx) * 2 + c)]);
      EXPECT_NEAR(e.x.value().row<float>(i)[o], sum, 1e-5);
    }
  }
}

TEST(ConvolutionInput, KeepsOneRowInStrideOnEachAxis) {
  const InputLab lab({"convolution", {{"channels", int64_t{4}}}}, {"learned"}, 1, {9, 9});
  const Rows rows = random_pictures({{9, 6}, {4, 7}}, 1, 1);
  Arena arena;
  Ctx ctx(arena);
  const Pass pass{ctx, lab.parameters};
  const Encoded e = (*lab.input)(pass, rows);
  EXPECT_EQ(e.rows->segments.start, (std::vector<int32_t>{0, 3 * 2, 3 * 2 + 1 * 2}));
  EXPECT_EQ(e.x.cols(), 6);
}

TEST(ConvolutionInput, ReadsSequencesToo) {
  const InputLab lab({"convolution", {{"layers", int64_t{1}}, {"channels", int64_t{2}}}}, {"sinusoidal"}, 3, {});
  Rows rows;
  rows.width = 3;
  rows.segments = Segments::of_lengths({5, 2});
  for (int i = 0; i < 21; ++i) rows.values.push_back(static_cast<float>(i % 5) - 2);
  Arena arena;
  Ctx ctx(arena);
  const Pass pass{ctx, lab.parameters};
  const Encoded e = (*lab.input)(pass, rows);
  EXPECT_EQ(e.rows->segments.start, (std::vector<int32_t>{0, 3, 4}));
}

/// Each axis has its half of the columns.
TEST(PositionsOnTwoAxes, AreATableEach) {
  const Rows rows = random_pictures({{2, 3}}, 1, 1);
  for (const char* kind : {"sinusoidal", "learned"}) {
    const InputLab with({"linear"}, {kind}, 1, {2, 3}), without({"linear"}, {"none"}, 1, {2, 3});
    Arena arena;
    Ctx ctx(arena);
    const Encoded a = (*with.input)(Pass{ctx, with.parameters}, rows),
                  b = (*without.input)(Pass{ctx, without.parameters}, rows);
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t c = 0; c < 6; ++c) {
        const int64_t axis = c / 3, place = rows.places[static_cast<size_t>(2 * i + axis)];
        double wanted = 0;
        if (std::string(kind) == "learned") {
          wanted = static_cast<double>(with.weight("position." + std::to_string(axis) + ".weight")[place * 3 + c % 3]);
        } else {
          const double angle = static_cast<double>(place) / std::pow(10000.0, static_cast<double>(c % 3 / 2 * 2) / 3);
          wanted = c % 3 % 2 == 0 ? std::sin(angle) : std::cos(angle);
        }
        const float *w = with.weight("input.weight"), *v = without.weight("input.weight");
        const float *wb = with.weight("input.bias"), *vb = without.weight("input.bias");
        const auto value = static_cast<double>(rows.values[static_cast<size_t>(i)]);
        const double own = static_cast<double>(w[c]) * value + static_cast<double>(wb[c]);
        const double other = static_cast<double>(v[c]) * value + static_cast<double>(vb[c]);
        EXPECT_NEAR(static_cast<double>(a.x.value().row<float>(i)[c]) - own,
                    wanted + static_cast<double>(b.x.value().row<float>(i)[c]) - other, 1e-5)
            << kind << i << c;
      }
  }
}

TEST(PictureModels, GradientsAreThoseOfFiniteDifferences) {
  const Rows rows = random_pictures({{4, 4}, {5, 4}}, 1, 1);
  std::vector<std::pair<Choice, Choice>> all{{{"patches", {{"size", int64_t{2}}}}, {"learned"}},
                                             {{"convolution", {{"channels", int64_t{2}}}}, {"learned"}}};
  for (const PositionKind& k : position_kinds())
    if (k.grids) all.push_back({{"linear"}, {k.name}});
  for (const auto& [kind, position] : all) {
    ModelOptions o;
    o.shape = ModelShape::encoder;
    o.input = kind;
    o.position = position;
    o.attention = {{"sparse", {{"atoms", std::string("chunk 4, strided 4")}}}};
    o.encoder_layers = 1;
    o.d_model = 8;
    o.d_ff = 4;
    o.heads = 2;
    o.dropout = 0;
    o.head = {"label"};
    ModelSizes sizes{0, 3, 20};
    sizes.source_width = 1;
    sizes.source_grid = {5, 4};
    const Model model(o, sizes);
    Batch batch;
    batch.source = rows;
    batch.target().right = rows_of(std::vector<int32_t>{}, {});
    batch.target().right.ids = Column<int32_t>{2, 0};
    batch.target().right.segments = Segments::of_lengths({1, 1});
    std::vector<CheckInput> inputs;
    for (int i = 0; i < model.parameters().count(); ++i)
      inputs.push_back(random_input(model.parameters().value(i).shape, 10 + static_cast<uint64_t>(i)));
    const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& v) {
      Pass pass{ctx, model.parameters()};
      pass.substitutes = v;
      return model.loss(pass, batch, {.scale = 0.5f});
    };
    EXPECT_LT(gradient_error(op, inputs), 1e-5) << kind.text() << ", " << position.text();
  }
}

TEST(PictureModels, SayWhatCantBe) {
  const auto made = [](const Choice& kind, const Choice& position, const std::vector<int64_t>& grid) {
    return error_of([&] { InputLab(kind, position, 1, grid); }, ErrorKind::recipe);
  };
  EXPECT_EQ(made({"patches"}, {"none"}, {28, 3}),
            "model.input: patches of 4 pixels, and the pictures have 3 on a side\n  fix: set size = 3 or less");
  EXPECT_EQ(made({"patches"}, {"none"}, {}),
            "model.input = \"patches\" reads pictures, and the data has none\n  fix: see `attune info inputs`");
  EXPECT_EQ(made({"patches"}, {"transformer-xl"}, {8, 8}),
            "model.position = \"transformer-xl\" counts along one axis, and these places have 2\n  fix: another "
            "scheme, such as "
            "\"learned\" or \"shaw\"");
  EXPECT_EQ(made({"embed"}, {"none"}, {8, 8}),
            "model.input = \"embed\" reads words, and the data has vectors\n  fix: see `attune info inputs`");
}

}  // namespace
}  // namespace attune
