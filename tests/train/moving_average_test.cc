#include "train/moving_average.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace attune {
namespace {

/// a = d a + (1 - d) w with d = min(decay, (t - 1) / (t + 8)), in double; buffers are the latest.
TEST(MovingAverage, IsItsFormula) {
  Parameters p;
  p.add("matrix", {7, 5});
  p.add_buffer("buffer", {2, 3});
  p.allocate();
  MovingAverage average(p, 0.8);
  average.begin();
  std::vector<double> exact(static_cast<size_t>(p.trained()));
  Random random(1);
  for (int t = 1; t <= 100; ++t) {
    for (int64_t i = 0; i < p.size(); ++i) p.data()[i] = static_cast<float>(random.normal());
    average.follow(t, nullptr);
    const double d = std::min(0.8, (t - 1.0) / (t + 8.0));
    for (size_t i = 0; i < exact.size(); ++i) {
      exact[i] = d * exact[i] + (1 - d) * static_cast<double>(p.data()[i]);
      ASSERT_NEAR(average.data()[i], exact[i], 1e-6) << t;
    }
  }
  for (int64_t i = p.trained(); i < p.size(); ++i) EXPECT_EQ(average.data()[i], p.data()[i]);
}

/// After one update it is the weights, whatever they began with; after two, a tenth of the first is left.
TEST(MovingAverage, FirstWeightsAreSoonForgotten) {
  Parameters p;
  p.add("vector", {1});
  p.allocate();
  p.data()[0] = 1000;
  MovingAverage average(p, 0.999);
  average.begin();
  p.data()[0] = 10;
  average.follow(1, nullptr);
  EXPECT_EQ(average.data()[0], 10.0f);
  p.data()[0] = 20;
  average.follow(2, nullptr);
  EXPECT_NEAR(average.data()[0], 0.1 * 10 + 0.9 * 20, 1e-5);
  average.follow(9991, nullptr);
  EXPECT_NEAR(average.data()[0], 0.999 * 19 + 0.001 * 20, 1e-5) << "from there on it is the decay";
}

TEST(MovingAverage, ChangesPlacesWithTheWeights) {
  Parameters p;
  p.add("vector", {3});
  p.allocate();
  p.data()[0] = 1;
  MovingAverage average(p, 0.8);
  average.begin();
  EXPECT_EQ(average.data()[0], 1.0f);
  p.data()[0] = 2;
  average.exchange(nullptr);
  EXPECT_EQ(p.data()[0], 1.0f);
  EXPECT_EQ(average.data()[0], 2.0f);
}

}  // namespace
}  // namespace attune
