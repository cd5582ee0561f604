#include "autograd/losses/label_loss.h"

#include <cmath>
#include <set>

#include "autograd/op_checks.h"
#include "autograd/operations/elementwise.h"

namespace attune {
namespace {

TEST(SetLoss, IsTheDefinitionAndItsGradient) {
  const std::vector<std::set<int32_t>> sets{{0, 2}, {}, {1}, {0, 1, 2, 3}};
  std::vector<int32_t> targets, lengths;
  for (const auto& s : sets) {
    targets.insert(targets.end(), s.begin(), s.end());
    lengths.push_back(static_cast<int32_t>(s.size()));
  }
  const Segments segments = Segments::of_lengths(lengths);
  const std::vector<float> weights{1, 0.5f, 2, 3};
  const CheckInput scores = random_input({4, 4}, 1, 2.0);
  for (const bool weighted : {false, true}) {
    const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& in) {
      SetLoss a{in[0]};
      a.targets = Tensor(targets.data(), Shape{std::ssize(targets)});
      a.segments = &segments;
      a.scale = 0.5f;
      if (weighted) a.weights = Tensor(weights.data(), Shape{4});
      return set_loss(ctx, a);
    };
    double expected = 0;
    for (size_t i = 0; i < 4; ++i)
      for (int32_t j = 0; j < 4; ++j) {
        const double p = 1 / (1 + std::exp(-scores.values[i * 4 + static_cast<size_t>(j)]));
        expected -=
            0.5 * (weighted ? static_cast<double>(weights[i]) : 1.0) / 4 * std::log(sets[i].contains(j) ? p : 1 - p);
      }
    EXPECT_NEAR(run_checked(op, {scores}, DType::f64).value[0], expected, 1e-12);
    expect_right(op, {scores});
    expect_views_and_plan(op, {scores});
    const CheckedOp twice = [&](Ctx& ctx, const std::vector<Var>& in) {
      return add(ctx, op(ctx, in), op(ctx, {multiply(ctx, in[0], in[0])}));
    };
    expect_right(twice, {scores});
  }
}

TEST(SetLoss, LargeScoresAreNoTrouble) {
  const Segments segments = Segments::of_lengths({1});
  const std::vector<int32_t> targets{0};
  const CheckInput scores{{1, 2}, {-2000, 3000}};
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& in) {
    SetLoss a{in[0]};
    a.targets = Tensor(targets.data(), Shape{1});
    a.segments = &segments;
    return set_loss(ctx, a);
  };
  EXPECT_EQ(run_checked(op, {scores}, DType::f32).value[0], 2500);
}

/// A label of the validation set that training never had is none of the labels: all of them are wrong.
TEST(SetLoss, UnknownLabelsAreNoneOfThem) {
  const Segments segments = Segments::of_lengths({1}), none = Segments::of_lengths({0});
  const std::vector<int32_t> targets{-1};
  const auto loss = [&](bool unknown) {
    return run_checked(
               [&](Ctx& ctx, const std::vector<Var>& in) {
                 SetLoss a{in[0]};
                 a.targets = Tensor(targets.data(), Shape{unknown ? 1 : 0});
                 a.segments = unknown ? &segments : &none;
                 return set_loss(ctx, a);
               },
               {{{1, 2}, {0.5, -1}}}, DType::f64)
        .value[0];
  };
  EXPECT_EQ(loss(true), loss(false));
  EXPECT_NEAR(loss(true), (std::log1p(std::exp(0.5)) + std::log1p(std::exp(-1))) / 2, 1e-12);
}

TEST(NumberLoss, IsTheDefinitionAndItsGradient) {
  const std::vector<float> targets{1, -2, 0.5f}, weights{1, 2, 0};
  const CheckInput values = random_input({3, 1}, 1);
  const CheckedOp op = [&](Ctx& ctx, const std::vector<Var>& in) {
    NumberLoss a{in[0]};
    a.targets = Tensor(targets.data(), Shape{3});
    a.weights = Tensor(weights.data(), Shape{3});
    a.scale = 0.25f;
    return number_loss(ctx, a);
  };
  double expected = 0;
  for (size_t i = 0; i < 3; ++i)
    expected +=
        0.25 * static_cast<double>(weights[i]) * std::pow(values.values[i] - static_cast<double>(targets[i]), 2);
  EXPECT_NEAR(run_checked(op, {values}, DType::f64).value[0], expected, 1e-12);
  expect_right(op, {values});
  expect_views_and_plan(op, {values});
}

TEST(LabelLoss, SaysWhatIsWrong) {
  Bench b;
  const Segments segments = Segments::of_lengths({1, 1});
  const std::vector<int32_t> targets{0, 3};
  SetLoss a{b.make({2, 3})};
  a.segments = &segments;
  a.targets = Tensor(targets.data(), Shape{2});
  EXPECT_EQ(error_of([&] { set_loss(b.ctx, a); }), "[set_loss] target 3, there are 3 labels");
  EXPECT_EQ(error_of([&] { number_loss(b.ctx, {b.make({2, 3})}); }), "[number_loss] values have 3 columns, not 1");
}

}  // namespace
}  // namespace attune
