// The guide of attention: its formulas, its gradients, and that it costs what it says.
#include "autograd/attention/guide.h"

#include <numeric>

#include "autograd/attention/attention_op.h"
#include "autograd/op_checks.h"

namespace attune {
namespace {

struct GuideCase {
  std::vector<int32_t> queries, keys;
  int64_t heads, heads_kv, dim;
  double sigma = 0;
  int64_t head = -1;
};

/// Links of each row: none, one, or several.
struct Links {
  std::vector<int32_t> start{0}, keys;

  static Links of(const GuideCase& c) {
    Links l;
    for (size_t s = 0; s < c.queries.size(); ++s)
      for (int32_t i = 0; i < c.queries[s]; ++i) {
        for (int32_t j = i % 4 == 3 ? c.keys[s] : 0; j < c.keys[s]; ++j)
          if ((j + i) % 3 == 0) l.keys.push_back(j);
        l.start.push_back(static_cast<int32_t>(l.keys.size()));
      }
    return l;
  }
};

CheckedOp op_of(const GuideCase& c, bool reference = false, bool joined = false) {
  const auto links = std::make_shared<Links>(Links::of(c));
  return attention_op<Attention>(c, joined, [=](Ctx& ctx, const Attention& a, const std::vector<Var>&) {
    const Guide g{c.sigma, {links->start, links->keys}, c.head, 0.7};
    return reference ? guide_loss_reference(ctx, a, g) : guide_loss(ctx, a, g);
  });
}

std::vector<CheckInput> inputs_of(const GuideCase& c) {
  const int64_t n = Segments::of_lengths(c.queries).rows(), m = Segments::of_lengths(c.keys).rows();
  CheckInput v = random_input({m, c.heads_kv * c.dim}, 3);
  v.differentiable = false;
  return {random_input({n, c.heads * c.dim}, 1), random_input({m, c.heads_kv * c.dim}, 2), v};
}

std::vector<GuideCase> guide_cases() {
  std::vector<GuideCase> all;
  for (const double sigma : {0.0, 0.2})
    for (const int64_t head : {-1, 0, 3})
      for (const int64_t heads_kv : {1, 2, 4})
        for (const int64_t dim : {1, 7, 16})
          all.push_back({{5, 1, 0, 33, 8}, {9, 4, 3, 20, 1}, 4, heads_kv, dim, sigma, head});
  return all;
}

std::string name_of(const GuideCase& c) {
  return fmt::format("sigma {} head {} heads {}/{} dim {}", c.sigma, c.head, c.heads, c.heads_kv, c.dim);
}

TEST(Guide, ReferenceHasRightGradients) {
  for (const double sigma : {0.0, 0.3})
    for (const int64_t head : {-1, 1}) {
      const GuideCase c{{4, 0, 1, 3}, {3, 2, 1, 5}, 2, 1, 3, sigma, head};
      EXPECT_LT(gradient_error(op_of(c, true), inputs_of(c)), 1e-6) << name_of(c);
      EXPECT_LT(gradient_error(op_of(c), inputs_of(c)), 1e-6) << "in f64 it runs as the reference does";
    }
}

TEST(Guide, NearItsReferenceUnderEveryInstructionSet) {
  for (const GuideCase& c : guide_cases()) expect_precise(op_of(c), op_of(c, true), inputs_of(c), name_of(c));
}

TEST(Guide, QueriesAndKeysMayBeColumnsOfOne) {
  for (const double sigma : {0.0, 0.2})
    for (const int64_t head : {-1, 1}) {
      const GuideCase c{{5, 9, 2}, {5, 9, 2}, 2, 2, 8, sigma, head};
      const std::vector<CheckInput> in{random_input({16, 48}, 4)};
      EXPECT_LT(precision_error(op_of(c, false, true), op_of(c, true, true), in), 1e-4) << name_of(c);
    }
}

TEST(Guide, SameBitsAndForeseenMemory) {
  for (const double sigma : {0.0, 0.2}) {
    const GuideCase c{{40, 1, 70, 12}, {30, 2, 65, 50}, 4, 2, 16, sigma, -1};
    expect_fixed_bits(op_of(c), inputs_of(c));
    expect_views_and_plan(op_of(c), inputs_of(c));
  }
}

struct Formula : testing::Test {
  Bench t;
  const Segments two = Segments::single(2), three = Segments::single(3);
  /// One head that looks with chosen weights: scores are logarithms of them.
  Attention looking(const std::vector<float>& weights) {
    std::vector<float> logs;
    for (const float w : weights) logs.push_back(std::log(w));
    Attention a;
    a.q = t.floats({2, 3}, logs);
    a.k = a.v = t.floats({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
    a.queries = &two;
    a.keys = &three;
    a.dim = 3;
    a.scale = 1;
    return a;
  }
  double loss(const Attention& a, const Guide& g) {
    return static_cast<double>(*guide_loss(t.ctx, a, g).value().as<float>());
  }
};

TEST_F(Formula, DiagonalIsThatOfTheirPaper) {
  // W_nt = 1 - exp(-(n/N - t/T)^2 / 2 g^2), g = 0.2
  const std::vector<float> weights{0.5f, 0.3f, 0.2f, 0.1f, 0.7f, 0.2f};
  double expected = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      const double d = i / 2.0 - j / 3.0;
      expected += static_cast<double>(weights[static_cast<size_t>(3 * i + j)]) * (1 - std::exp(-d * d / (2 * 0.04)));
    }
  EXPECT_NEAR(loss(looking(weights), {.sigma = 0.2, .scale = 2}), 2 * expected, 1e-6);
}

TEST_F(Formula, LinksAreACrossEntropyAndRowsWithoutOneDoNotCount) {
  const Attention a = looking({0.5f, 0.3f, 0.2f, 0.1f, 0.7f, 0.2f});
  const std::vector<int32_t> one_row{0, 0, 2}, keys{0, 1}, both{0, 1, 2};
  EXPECT_NEAR(loss(a, {.links = {one_row, keys}}), -(std::log(0.1) + std::log(0.7)) / 2, 1e-6);
  EXPECT_NEAR(loss(a, {.links = {both, keys}}), -(std::log(0.5) + std::log(0.7)), 1e-6);
  const std::vector<int32_t> none{0, 0, 0};
  EXPECT_EQ(loss(a, {.links = {none, keys}}), 0);
}

TEST_F(Formula, AWeightOfNothingIsNoInfinity) {
  const Attention a = looking({1e-30f, 1, 1, 1, 1, 1});
  const std::vector<int32_t> start{0, 1, 1}, keys{0};
  EXPECT_NEAR(loss(a, {.links = {start, keys}}), -std::log(1e-20), 1e-3);
}

/// The slope of - log A at scores is A - 1 where it should look, A elsewhere; a weight of nothing at all has none, and
/// what flows back are numbers.
TEST_F(Formula, GradientsOfSaturatedRowsAreNumbers) {
  Tape tape;
  t.ctx.tape = &tape;
  std::vector<float> scores{-300, 0, 0, -12, 0, 0};  // of row 0 the first weight is 0, of row 1 it is 3e-6
  Attention a = looking({1, 1, 1, 1, 1, 1});
  a.q = t.ctx.input(Tensor(scores.data(), Shape{2, 3}), true);
  const std::vector<int32_t> start{0, 1, 2}, keys{0, 0};
  const Var y = guide_loss(t.ctx, a, {.links = {start, keys}});
  EXPECT_NEAR(*y.value().as<float>(), -std::log(1e-20) + 12 + std::log(2), 1e-3);
  tape.backward(t.ctx, y);
  const float* slope = a.q.grad().as<float>();
  for (int j = 0; j < 3; ++j) EXPECT_EQ(slope[j], 0) << j;
  for (int j = 0; j < 3; ++j) EXPECT_NEAR(slope[3 + j], j == 0 ? -1 : 0.5, 1e-4) << j;
}

TEST_F(Formula, Messages) {
  const Attention a = looking({1, 1, 1, 1, 1, 1});
  const std::vector<int32_t> start{0, 1, 1}, far{3}, short_start{0, 1};
  EXPECT_EQ(error_of([&] {
              loss(a, {.links = {start, far}});
            }),
            "[guide_loss] sequence 0 is linked to key 3, it has 3");
  EXPECT_EQ(error_of([&] { loss(a, {.links = {short_start, far}}); }), "[guide_loss] links of 1 rows, queries have 2");
  EXPECT_EQ(error_of([&] { loss(a, {.sigma = 0.2, .head = 1}); }), "[guide_loss] there is no head 1, only 0 to 0");
}

}  // namespace
}  // namespace attune
