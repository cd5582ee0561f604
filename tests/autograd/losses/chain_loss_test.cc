#include "autograd/losses/chain_loss.h"

#include <cmath>

#include "autograd/op_checks.h"
#include "autograd/operations/elementwise.h"

namespace attune {
namespace {

struct ChainLossCase {
  std::vector<int32_t> lengths;
  int64_t labels;
  Segments segments = Segments::of_lengths(lengths);
  std::vector<int32_t> targets = {};
  std::vector<float> weights = {};
  CheckInput scores = random_input({segments.rows(), labels}, 3), moves = random_input({labels + 2, labels}, 4);

  ChainLossCase(std::vector<int32_t> l, int64_t k) : lengths(std::move(l)), labels(k) {
    for (int64_t i = 0; i < segments.rows(); ++i) targets.push_back(static_cast<int32_t>(i * 7 % labels));
    for (int64_t i = 0; i < segments.rows(); ++i) weights.push_back(0.5f + static_cast<float>(i % 3));
  }
  CheckedOp op(bool weighted = false) const {
    return [this, weighted](Ctx& ctx, const std::vector<Var>& in) {
      ChainLoss a{in[0], in[1]};
      a.targets = Tensor(targets.data(), Shape{std::ssize(targets)});
      a.segments = &segments;
      a.scale = 0.25f;
      if (weighted) a.weights = Tensor(weights.data(), Shape{std::ssize(weights)});
      return chain_loss(ctx, a);
    };
  }
  double score(int64_t from, const std::vector<int64_t>& path) const {
    const auto move = [&](int64_t i, int64_t j) { return moves.values[static_cast<size_t>(i * labels + j)]; };
    double sum = move(labels, path[0]) + move(labels + 1, path.back());
    for (size_t t = 0; t < path.size(); ++t) {
      sum += scores.values[static_cast<size_t>((from + static_cast<int64_t>(t)) * labels + path[t])];
      if (t > 0) sum += move(path[t - 1], path[t]);
    }
    return sum;
  }
  /// By the definition: a sum over all sequences of labels.
  double loss(bool weighted = false) const {
    double all = 0;
    for (int64_t s = 0; s < segments.count(); ++s) {
      const int64_t from = segments.begin(s), n = segments.length(s);
      if (n == 0) continue;
      std::vector<int64_t> path(static_cast<size_t>(n), 0), right;
      for (int64_t t = 0; t < n; ++t) right.push_back(targets[static_cast<size_t>(from + t)]);
      double z = 0, fits = 0;
      for (size_t t = 1; t > 0;) {
        const bool all_fit = std::equal(path.begin(), path.end(), right.begin(),
                                        [](int64_t said, int64_t wanted) { return wanted < 0 || said == wanted; });
        z += std::exp(score(from, path));
        if (all_fit) fits += std::exp(score(from, path));
        t = path.size();
        while (t > 0 && ++path[t - 1] == labels) path[--t] = 0;
      }
      all += (weighted ? static_cast<double>(weights[static_cast<size_t>(from)]) : 1.0) *
             (std::log(z) - std::log(fits));
    }
    return 0.25 * all;
  }
};

TEST(ChainLoss, IsTheDefinitionAndItsGradient) {
  for (const auto& [lengths, labels] : std::vector<std::pair<std::vector<int32_t>, int64_t>>{
           {{1}, 1}, {{1}, 3}, {{5}, 3}, {{2, 0, 4, 1}, 4}, {{3, 3}, 2}, {{}, 3}, {{0}, 2}})
    for (const bool weighted : {false, true}) {
      const ChainLossCase c(lengths, labels);
      const std::string where = fmt::format("{} sequences, {} labels", lengths.size(), labels);
      EXPECT_NEAR(run_checked(c.op(weighted), {c.scores, c.moves}, DType::f64).value[0], c.loss(weighted), 1e-12)
          << where;
      expect_right(c.op(weighted), {c.scores, c.moves}, where);
      expect_views_and_plan(c.op(weighted), {c.scores, c.moves});
    }
}

/// A label that nobody knows may be any: the sum over all sequences that fit.
TEST(ChainLoss, UnknownLabelsMayBeAny) {
  for (const std::vector<int32_t>& targets : {std::vector<int32_t>{1, -1, 2, 0, -1, -1, 2}, {-1, 0, 1, -1, 2, 2, 2}})
    for (const bool weighted : {false, true}) {
      ChainLossCase c({4, 0, 3}, 3);
      c.targets = targets;
      EXPECT_NEAR(run_checked(c.op(weighted), {c.scores, c.moves}, DType::f64).value[0], c.loss(weighted), 1e-12);
      expect_right(c.op(weighted), {c.scores, c.moves}, "");
    }
}

TEST(ChainLoss, GradientsAddUpAndScoresMayBeLarge) {
  const ChainLossCase c({4, 2}, 3);
  const CheckedOp twice = [&](Ctx& ctx, const std::vector<Var>& in) {
    return add(ctx, c.op()(ctx, in), c.op(true)(ctx, {multiply(ctx, in[0], in[0]), in[1]}));
  };
  expect_right(twice, {c.scores, c.moves});
  CheckInput large = c.scores;
  for (double& x : large.values) x *= 3000;
  const CheckRun r = run_checked(c.op(), {large, c.moves}, DType::f32);
  for (const auto& g : r.grads)
    for (const double x : g) EXPECT_TRUE(std::isfinite(x));
}

TEST(ChainLoss, SaysWhatIsWrong) {
  Bench b;
  const Segments segments = Segments::of_lengths({2});
  const std::vector<int32_t> targets{0, 3};
  ChainLoss a{b.make({2, 3}), b.make({3, 3})};
  a.targets = Tensor(targets.data(), Shape{2});
  a.segments = &segments;
  EXPECT_EQ(error_of([&] { chain_loss(b.ctx, a); }), "[chain_loss] moves are [3, 3], for 3 labels they must be [5, 3]");
  a.moves = b.make({5, 3});
  EXPECT_EQ(error_of([&] { chain_loss(b.ctx, a); }), "[chain_loss] row 1: target 3, there are 3 labels");
  a.targets = Tensor(targets.data(), Shape{1});
  EXPECT_EQ(error_of([&] { chain_loss(b.ctx, a); }), "[chain_loss] 1 targets for 2 rows");
}

}  // namespace
}  // namespace attune
