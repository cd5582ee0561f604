// Positions on two axes: every scheme that changes scores is the sum of what it says along each, rope turns a part of a
// head for each; and the quadratic encoding, which makes heads a convolution.
#include "model/position/axes.h"

#include <map>

#include "model/position/alibi.h"
#include "model/position/hook_checks.h"
#include "model/position/music.h"
#include "model/position/quadratic.h"
#include "model/position/rope.h"
#include "model/position/shaw.h"
#include "model/position/t5.h"

namespace attune {
namespace {

constexpr int64_t kHeads = 2, kAxes = 2, kDim = 8;

struct OnAxes {
  HookCase hook;
  std::vector<std::shared_ptr<const RelativeScores>> parts;  // kept for their owner
  /// What one axis adds to a score that is scaled already; the table's rows of that axis begin at `first`.
  std::function<double(const std::vector<CheckInput>& in, int64_t axis, int64_t head, int64_t i, int64_t delta)> score;
  std::function<double(const std::vector<CheckInput>& in, int64_t axis, int64_t delta, int64_t d)> value;
};

template <class T, class... Args>
OnAxes both(Args... args) {
  OnAxes c;
  std::vector<AxesScores::Axis> axes;
  for (int64_t a = 0; a < kAxes; ++a) {
    c.parts.push_back(std::make_shared<T>(args...));
    axes.push_back({c.parts.back().get(), a, c.parts.back()->table_rows()});
  }
  c.hook = {std::make_shared<AxesScores>(axes), kHeads, kDim};
  c.score = [](const auto&, int64_t, int64_t, int64_t, int64_t) { return 0.0; };
  c.value = [](const auto&, int64_t, int64_t, int64_t) { return 0.0; };
  return c;
}

std::map<std::string, OnAxes> schemes() {
  constexpr int64_t clip = 3, longest = 6, shaw_rows = 2 * clip + 1, music_rows = 2 * longest - 1;
  const double root = std::sqrt(static_cast<double>(kDim));
  std::map<std::string, OnAxes> all;
  all["alibi"] = both<AlibiScores>(kHeads);
  all["alibi"].score = [](const auto&, int64_t, int64_t h, int64_t, int64_t delta) {
    return -std::pow(2.0, h == 0 ? -4.0 : -8.0) * static_cast<double>(std::abs(delta));
  };
  const T5Buckets buckets{.causal = false, .count = 8, .farthest = 20};
  all["t5"] = both<T5Scores>(buckets);
  all["t5"].hook.tables = {random_input({kAxes * 8, kHeads}, 11)};
  all["t5"].score = [=](const auto& in, int64_t a, int64_t h, int64_t, int64_t delta) {
    return at(in[3], a * 8 + t5_bucket(delta, buckets), h);
  };
  all["shaw"] = both<ShawScores>(clip);
  all["shaw"].hook.tables = {random_input({kAxes * shaw_rows, kDim}, 11), random_input({kAxes * shaw_rows, kDim}, 12)};
  all["shaw"].hook.on_values = true;
  all["shaw"].score = [=](const auto& in, int64_t a, int64_t h, int64_t i, int64_t delta) {
    return dot(in[0], i, h * kDim, in[3], a * shaw_rows + std::clamp(delta, -clip, clip) + clip, 0, kDim) / root;
  };
  all["shaw"].value = [=](const auto& in, int64_t a, int64_t delta, int64_t d) {
    return at(in[4], a * shaw_rows + std::clamp(delta, -clip, clip) + clip, d);
  };
  all["music"] = both<MusicScores>(longest, false);
  all["music"].hook.tables = {random_input({kAxes * music_rows, kHeads * kDim}, 11)};
  all["music"].score = [=](const auto& in, int64_t a, int64_t h, int64_t i, int64_t delta) {
    const int64_t row = a * music_rows + std::clamp(delta, 1 - longest, longest - 1) + longest - 1;
    return dot(in[0], i, h * kDim, in[3], row, h * kDim, kDim) / root;
  };
  all["quadratic"].hook = {std::make_shared<QuadraticScores>(kAxes),
                           kHeads,
                           kDim,
                           {random_input({kHeads, kAxes}, 11), random_input({kHeads, 1}, 12)}};
  // Cordonnier et al. 2020, equation 9: v = -alpha (1, -2 Delta_1, -2 Delta_2), r = (|delta|^2, delta_1, delta_2).
  all["quadratic"].score = [](const auto& in, int64_t a, int64_t h, int64_t, int64_t delta) {
    const auto x = static_cast<double>(delta);
    return -at(in[4], h, 0) * (x * x - 2 * at(in[3], h, a) * x);
  };
  all["quadratic"].value = [](const auto&, int64_t, int64_t, int64_t) { return 0.0; };
  return all;
}

/// The pixels of pictures of so many rows and columns, and rows in no order at all.
Sequences on_grids(const std::vector<std::pair<int32_t, int32_t>>& sizes, const Mask& mask = {}, float dropout = 0) {
  Sequences s;
  for (const auto& [height, width] : sizes) {
    s.queries.push_back(height * width);
    for (int32_t y = 0; y < height; ++y)
      for (int32_t x = 0; x < width; ++x) s.query_places.insert(s.query_places.end(), {y, x});
  }
  s.keys = s.queries;
  s.key_places = s.query_places;
  s.axes = kAxes;
  s.mask = mask;
  s.dropout = dropout;
  return s;
}

TEST(Axes, AddUpWhatASchemeSaysAlongEach) {
  for (const auto& [name, scheme] : schemes())
    for (const Sequences& s : {on_grids({{4, 5}}), on_grids({{3, 7}}, Mask::past()), on_grids({{1, 20}})}) {
      SCOPED_TRACE(name);
      const auto in = hooked_inputs(scheme.hook, s);
      const auto delta = [&](int64_t i, int64_t j, int64_t a) {
        return s.key_places[static_cast<size_t>(j * kAxes + a)] - s.query_places[static_cast<size_t>(i * kAxes + a)];
      };
      expect_formula(scheme.hook, s, in,
                     {[&](int64_t h, int64_t i, int64_t j) {
                        double score = dot(in[0], i, h * kDim, in[1], j, h * kDim, kDim) / std::sqrt(8.0);
                        for (int64_t a = 0; a < kAxes; ++a) score += scheme.score(in, a, h, i, delta(i, j, a));
                        return score;
                      },
                      [&](int64_t h, int64_t i, int64_t j, int64_t d) {
                        double value = at(in[2], j, h * kDim + d);
                        for (int64_t a = 0; a < kAxes; ++a) value += scheme.value(in, a, delta(i, j, a), d);
                        return value;
                      }});
    }
}

TEST(Axes, HooksAreTheirReferences) {
  for (const auto& [name, scheme] : schemes())
    for (const Sequences& s :
         {on_grids({{6, 8}, {0, 3}, {1, 1}, {10, 10}}, Mask::none(), 0.2f), on_grids({{6, 8}, {10, 10}}, Mask::past())})
      EXPECT_LT(
          precision_error(hooked_op(scheme.hook, s), hooked_op(scheme.hook, s, true), hooked_inputs(scheme.hook, s)),
          tolerance(scheme.hook))
          << name;
}

TEST(Axes, OfRowsThatAPatternGathers) {
  for (const auto& [name, scheme] : schemes()) {
    Sequences s = on_grids({{10, 10}, {2, 10}});
    s.atoms = "chunk 10, strided 10";
    EXPECT_LT(
        precision_error(hooked_op(scheme.hook, s), hooked_op(scheme.hook, s, true), hooked_inputs(scheme.hook, s)),
        tolerance(scheme.hook))
        << name;
    expect_fixed_bits(hooked_op(scheme.hook, s), hooked_inputs(scheme.hook, s));
  }
}

TEST(Axes, ReferencesHaveRightGradients) {
  for (const auto& [name, scheme] : schemes()) {
    const Sequences s = on_grids({{2, 3}, {1, 1}, {2, 2}}, Mask::none(), 0.3f);
    EXPECT_LT(gradient_error(hooked_op(scheme.hook, s, true), hooked_inputs(scheme.hook, s)), 1e-6) << name;
  }
}

/// On one axis the quadratic encoding needs no places to be told.
TEST(Axes, QuadraticOnOneAxis) {
  const HookCase c{std::make_shared<QuadraticScores>(1), 2, 16, {random_input({2, 1}, 11), random_input({2, 1}, 12)}};
  const Sequences s{{1, 40, 0, 110}, {1, 40, 0, 110}, Mask::past(), 0.2f};
  EXPECT_LT(precision_error(hooked_op(c, s), hooked_op(c, s, true), hooked_inputs(c, s)), tolerance(c));
  expect_fixed_bits(hooked_op(c, s), hooked_inputs(c, s));
  EXPECT_LT(gradient_error(hooked_op(c, {{4, 1, 6}, {4, 1, 6}}, true), hooked_inputs(c, {{4, 1, 6}, {4, 1, 6}})), 1e-6);
}

/// Cordonnier et al. 2020, theorem 1 and lemma 2: with W_q = W_k = 0 and alpha = 46, k x k heads at the right centres
/// are any convolution of k x k, on pixels whose window lies within the picture.
TEST(Axes, QuadraticHeadsAreAConvolution) {
  constexpr int64_t k = 3, heads = k * k, in = 4, out = 5, height = 6, width = 7, n = height * width;
  const CheckInput picture = random_input({n, in}, 1), filter = random_input({out, k * k * in}, 2);
  // Every head's values are the picture itself: its part of the output matrix is the filter's tap.
  std::vector<CheckInput> inputs{{{n, heads * in}, std::vector<double>(static_cast<size_t>(n * heads * in))},
                                 {{n, in}, std::vector<double>(static_cast<size_t>(n * in))},
                                 picture};
  CheckInput centres{{heads, 2}, {}, true}, sharpness{{heads, 1}, {}, true};
  for (int64_t h = 0; h < heads; ++h) {
    centres.values.insert(centres.values.end(), {static_cast<double>(h / k - 1), static_cast<double>(h % k - 1)});
    sharpness.values.push_back(46);
  }
  inputs.insert(inputs.end(), {centres, sharpness});
  Sequences s = on_grids({{height, width}});
  s.heads_kv = 1;
  const HookCase c{std::make_shared<QuadraticScores>(2), heads, in, {centres, sharpness}};
  for (const DType type : {DType::f32, DType::f64}) {
    const CheckRun seen = run_checked(hooked_op(c, s), inputs, type);
    for (int64_t y = 1; y + 1 < height; ++y)
      for (int64_t x = 1; x + 1 < width; ++x)
        for (int64_t o = 0; o < out; ++o) {
          double attention = 0, convolution = 0;
          for (int64_t h = 0; h < heads; ++h)
            for (int64_t d = 0; d < in; ++d) {
              const double w = at(filter, o, h * in + d);
              attention += w * seen.value[static_cast<size_t>(((y * width + x) * heads + h) * in + d)];
              convolution += w * at(picture, (y + h / k - 1) * width + x + h % k - 1, d);
            }
          ASSERT_NEAR(attention, convolution, type == DType::f32 ? 1e-5 : 1e-6) << y << " " << x;
        }
  }
}

/// Of a head of 8 columns the first four are turned by the row, the last four by the column.
TEST(Axes, RopeTurnsAPartOfEachHead) {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  const Blueprint place(shared, "encoder");
  const auto scheme = make_position({"rope"}, {16, 100, {5, 9}}, place, "model.position");
  const auto layer = scheme->layer(place, {.heads = 2, .heads_kv = 2, .dim = 8});
  const CheckInput rows = random_input({6, 32}, 3);  // queries and keys of two heads
  std::vector<float> x(rows.values.begin(), rows.values.end());
  const std::vector<int32_t> places{0, 0, 4, 8, 2, 1, 1, 7, 0, 3, 3, 3};
  Arena arena;
  Ctx ctx(arena);
  const Pass pass{ctx, parameters};
  const Var both = ctx.input(Tensor(x.data(), Shape{6, 32}));
  const Segments one = Segments::single(6);
  const RowPositions where{&one, {}, Tensor(places.data(), Shape{6, 2})};
  const Projected p = layer->turn(pass, {.q = both, .k = both, .v = both, .k_column = 16}, where, where);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t h = 0; h < 4; ++h)  // of queries, then of keys
      for (int64_t pair = 0; pair < 4; ++pair) {
        const int64_t axis = pair / 2;
        const double angle = places[static_cast<size_t>(i * 2 + axis)] * std::pow(10000.0, -2.0 * (pair % 2) / 4);
        const double a = at(rows, i, h * 8 + 2 * pair), b = at(rows, i, h * 8 + 2 * pair + 1);
        const Var& of = h < 2 ? p.q : p.k;
        const float* got =
            of.value().row<float>(i) + (h < 2 ? p.q_column + h * 8 : p.k_column + (h - 2) * 8) + 2 * pair;
        ASSERT_NEAR(got[0], a * std::cos(angle) - b * std::sin(angle), 1e-5) << i << " " << h << " " << pair;
        ASSERT_NEAR(got[1], a * std::sin(angle) + b * std::cos(angle), 1e-5);
      }
}

TEST(Axes, WhatDoesNotFitIsRefused) {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  const Blueprint place(shared, "encoder");
  const auto said = [&](const Choice& choice, int64_t dim) {
    return error_of(
        [&] {
          const auto scheme = make_position(choice, {4 * dim, 100, {28, 28}}, place, "model.position");
          scheme->layer(place, {.heads = 4, .heads_kv = 4, .dim = dim});
        },
        ErrorKind::recipe);
  };
  EXPECT_EQ(
      said({"rope"}, 6),
      "position \"rope\" turns pairs of columns for each of 2 axes, heads have 6\n  fix: d_model / heads must be a "
      "multiple of 4");
  EXPECT_NE(said({"transformer-xl"}, 8).find("counts along one axis, and these places have 2"), std::string::npos);
}

}  // namespace
}  // namespace attune
