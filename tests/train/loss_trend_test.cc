#include "train/loss_trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace attune {
namespace {

/// The update at which a course of losses is found to have diverged; 0: never.
int64_t noticed(const LossTrend::Scale& scale, int64_t updates, const std::function<double(double)>& loss) {
  LossTrend trend;
  for (int64_t i = 0; i < updates; ++i) {
    trend.add(loss(static_cast<double>(i)), scale);
    if (trend.diverged(scale)) return i + 1;
  }
  return 0;
}

const LossTrend::Scale k8000{std::log(8000.0)};

/// From a guess down to `to`, as most runs go.
double learning(double i, double to) { return to + (9.3 - to) * std::exp(-i / 300); }

TEST(LossTrend, RunsThatLearnAreLeftAlone) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise;
  EXPECT_EQ(noticed(k8000, 5000, [&](double i) { return learning(i, 1.6) + 0.5 * noise(random); }), 0);
  // Nothing learned at all, in tiny batches.
  EXPECT_EQ(noticed(k8000, 5000, [&](double) { return 9.3 + 0.8 * noise(random); }), 0);
  // Spikes of twenty updates, as high as can be.
  EXPECT_EQ(noticed(k8000, 5000,
                    [&](double i) {
                      return std::fmod(i, 1000) < 980 ? learning(i, 2) : 1e9 * (2 + std::abs(noise(random)));
                    }),
            0);
  // Noise that grows into the data, and a task of few words that is learned by heart.
  EXPECT_EQ(noticed(k8000, 5000, [](double i) { return learning(i, 1.5) + 2.5 * i / 5000; }), 0);
  EXPECT_EQ(
      noticed({std::log(12.0)}, 5000, [&](double i) { return learning(i, 0.01) / 4 + 0.2 * std::abs(noise(random)); }),
      0);
  // A start that is sure of the wrong things, and learns slowly.
  EXPECT_EQ(noticed(k8000, 5000, [](double i) { return 6 + 8 * std::exp(-i / 1000); }), 0);
}

TEST(LossTrend, ExplosionsAreNoticedSoon) {
  const auto from = [](double at, double height) {
    return [=](double i) { return i < at ? learning(i, 1.6) : height; };
  };
  for (const double height : {20.0, 1e4, 1e30}) {
    const int64_t update = noticed(k8000, 5000, from(1000, height));
    EXPECT_GT(update, 1010) << height;
    EXPECT_LT(update, 1060) << height;
  }
  // Back to the frequencies of words: what becomes of most Transformers.
  EXPECT_GT(noticed(k8000, 5000, from(2000, 6.3)), 2100);
  EXPECT_LT(noticed(k8000, 5000, from(2000, 6.3)), 2300);
  // From the first update on.
  EXPECT_EQ(noticed(k8000, 5000, [](double i) { return i < 1 ? 9.3 : 50; }), 100);
  EXPECT_EQ(noticed({std::log(12.0)}, 5000, [](double i) { return i < 1 ? 2.9 : 7; }), 100);
}

TEST(LossTrend, TextsInOrderMayGetHarder) {
  const auto harder = [](double i) { return i < 1000 ? learning(i, 2) : 6.5; };
  EXPECT_GT(noticed(k8000, 5000, harder), 0);
  EXPECT_EQ(noticed({k8000.guess, true}, 5000, harder), 0);
  EXPECT_GT(noticed({k8000.guess, true}, 5000, [](double i) { return i < 1000 ? learning(i, 2) : 15; }), 0);
}

TEST(LossTrend, WhatIsOnItsWayUpIsNoStateToGoBackTo) {
  LossTrend trend;
  for (int i = 0; i < 500; ++i) trend.add(3, k8000);
  EXPECT_TRUE(trend.calm(3.8, k8000));
  EXPECT_FALSE(trend.calm(15, k8000)) << "the first update of it";
  for (int i = 0; i < 10; ++i) trend.add(15, k8000);
  EXPECT_FALSE(trend.diverged(k8000));
  EXPECT_FALSE(trend.calm(15, k8000));
}

}  // namespace
}  // namespace attune
