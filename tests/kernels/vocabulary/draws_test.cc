#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/random.h"
#include "kernels/vocabulary/candidates.h"
#include "kernels/vocabulary/draw_columns.h"

namespace attune::kernels {
namespace {

struct Drawn {
  std::vector<int32_t> ids;
  std::vector<float> log_probs;
};

/// One row, many draws.
Drawn drawn(std::vector<float> x, int64_t count, Draws d) {
  Random random(7);
  std::vector<double> chances;
  for (int64_t i = 0; i < count; ++i) chances.push_back(random.uniform());
  Drawn r;
  r.ids.resize(static_cast<size_t>(count));
  r.log_probs.resize(r.ids.size());
  d.x = Tensor(x.data(), Shape{1, std::ssize(x)});
  d.random = chances;
  d.ids = Tensor(r.ids.data(), Shape{1, count});
  d.log_probs = Tensor(r.log_probs.data(), Shape{1, count});
  draws(d);
  return r;
}

std::vector<double> shares(const std::vector<int32_t>& ids, size_t columns) {
  std::vector<double> s(columns);
  for (const int32_t id : ids) s[static_cast<size_t>(id)] += 1.0 / static_cast<double>(ids.size());
  return s;
}

const std::vector<float> kRow{1.0f, -2.0f, 3.0f, 0.5f, 2.5f};

/// softmax(x / t) of the columns that are let in.
std::vector<double> wanted(const std::vector<float>& x, double t, const std::vector<int32_t>& in) {
  std::vector<double> p(x.size());
  double total = 0;
  for (const int32_t i : in)
    total += p[static_cast<size_t>(i)] = std::exp(static_cast<double>(x[static_cast<size_t>(i)]) / t);
  for (double& v : p) v /= total;
  return p;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 0.01) << "column " << i;
}

TEST(Draws, FollowTheProbabilities) {
  expect_near(shares(drawn(kRow, 40000, {}).ids, 5), wanted(kRow, 1, {0, 1, 2, 3, 4}));
  expect_near(shares(drawn(kRow, 40000, {.temperature = 2}).ids, 5), wanted(kRow, 2, {0, 1, 2, 3, 4}));
  expect_near(shares(drawn(kRow, 40000, {.temperature = 0.5}).ids, 5), wanted(kRow, 0.5, {0, 1, 2, 3, 4}));
}

TEST(Draws, StayInTheTop) {
  expect_near(shares(drawn(kRow, 40000, {.top_k = 2}).ids, 5), wanted(kRow, 1, {2, 4}));
  // softmax: 0.075 0.004 0.552 0.045 0.335 (about): 0.552 is not 0.6, 0.552 + 0.335 is
  expect_near(shares(drawn(kRow, 40000, {.top_p = 0.6}).ids, 5), wanted(kRow, 1, {2, 4}));
  expect_near(shares(drawn(kRow, 40000, {.top_p = 0.9}).ids, 5), wanted(kRow, 1, {2, 4, 0}));
  expect_near(shares(drawn(kRow, 40000, {.top_k = 1, .top_p = 0.01}).ids, 5), wanted(kRow, 1, {2}));
  // of the two of top_k, column 2 has 0.62 together
  expect_near(shares(drawn(kRow, 40000, {.top_k = 2, .top_p = 0.61}).ids, 5), wanted(kRow, 1, {2}));
}

TEST(Draws, TellTheLogProbabilityAtNoTemperature) {
  const Drawn d = drawn(kRow, 100, {.temperature = 3, .top_k = 4});
  const auto p = wanted(kRow, 1, {0, 1, 2, 3, 4});
  for (size_t i = 0; i < d.ids.size(); ++i)
    EXPECT_NEAR(d.log_probs[i], std::log(p[static_cast<size_t>(d.ids[i])]), 1e-5);
}

TEST(Draws, LeaveUnsaidWhatMayNotBe) {
  const std::vector<int32_t> hidden{2}, banned{4}, start{0, 1}, none{-1}, only{1};
  expect_near(shares(drawn(kRow, 40000, {.unsaid = {hidden, start, banned, none}}).ids, 5), wanted(kRow, 1, {0, 1, 3}));
  expect_near(shares(drawn(kRow, 100, {.unsaid = {hidden, start, banned, only}}).ids, 5), wanted(kRow, 1, {1}));
}

TEST(Draws, OfNothingAreNone) {
  for (const float x : {-INFINITY, NAN}) {
    const Drawn d = drawn({x, x, x}, 4, {});
    EXPECT_EQ(d.ids, (std::vector<int32_t>{-1, -1, -1, -1}));
  }
  EXPECT_EQ(drawn({NAN, 1.0f, NAN}, 2, {.top_p = 0.9}).ids, (std::vector<int32_t>{1, 1}));
}

TEST(Draws, OfManyColumnsAreThoseOfASort) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> weights(5000);
  for (float& w : weights) w = std::exp(normal(random));
  std::vector<int32_t> order(weights.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return weights[size_t(a)] > weights[size_t(b)]; });
  for (const Heaviest& of : {Heaviest{0, 0.8}, Heaviest{1000, 0.9}, Heaviest{10, 1}, Heaviest{0, 0.0001}}) {
    double all = 0, some = 0;
    const size_t most = of.k ? static_cast<size_t>(of.k) : order.size();
    for (size_t i = 0; i < most; ++i) all += static_cast<double>(weights[size_t(order[i])]);
    std::vector<bool> in(weights.size());
    for (size_t i = 0; i < most && (of.p >= 1 || some < of.p * all); ++i) {
      in[static_cast<size_t>(order[i])] = true;
      some += static_cast<double>(weights[size_t(order[i])]);
    }
    std::vector<double> chances;
    for (int i = 0; i < 5000; ++i) chances.push_back(i / 5000.0);
    std::vector<int32_t> ids(chances.size()), scratch;
    draw_columns(weights, of, chances, scratch, ids.data());
    for (const int32_t id : ids) EXPECT_TRUE(in[static_cast<size_t>(id)]) << of.k << " " << of.p;
  }
}

TEST(Candidates, ObeyRowByRow) {
  std::vector<float> x{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4};
  const std::vector<int32_t> hidden{2}, banned{3, 0, 1}, start{0, 1, 3, 3}, forced{-1, -1, 2};
  std::vector<int32_t> ids(6);
  std::vector<float> log_probs(6);
  candidates({Tensor(x.data(), Shape{3, 4}),
              {hidden, start, banned, forced},
              Tensor(ids.data(), Shape{3, 2}),
              Tensor(log_probs.data(), Shape{3, 2})});
  EXPECT_EQ(ids, (std::vector<int32_t>{1, 0, 3, -1, 2, -1}));
  double total = 0;
  for (const double v : {1.0, 2.0, 3.0, 4.0}) total += std::exp(v);
  EXPECT_NEAR(log_probs[0], 2 - std::log(total), 1e-5);
  EXPECT_NEAR(log_probs[4], 3 - std::log(total), 1e-5) << "also where it is hidden";
}

}  // namespace
}  // namespace attune::kernels
