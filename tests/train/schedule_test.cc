#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "checks.h"

namespace attune {
namespace {

TrainOptions schedule_options(Schedule schedule, int64_t warmup = 100) {
  TrainOptions o;
  o.schedule = schedule;
  o.learning_rate = 0.3;
  o.warmup = warmup;
  return o;
}

TEST(LearningRate, RisesInALineWhateverComesThen) {
  for (const Schedule s : {Schedule::constant, Schedule::inverse_sqrt, Schedule::cosine, Schedule::linear,
                           Schedule::exponential, Schedule::plateau}) {
    for (const int64_t n : {1, 50, 99})
      EXPECT_DOUBLE_EQ(learning_rate(schedule_options(s), n, 1000), 0.3 * static_cast<double>(n) / 100);
    EXPECT_DOUBLE_EQ(learning_rate(schedule_options(s), 100, 1000), 0.3) << "the peak";
  }
}

TEST(LearningRate, ComesDownAsItsFormulaSays) {
  const auto rate = [](Schedule s, int64_t n) { return learning_rate(schedule_options(s), n, 1100); };
  const double pi = std::acos(-1.0);
  for (const int64_t n : {101, 350, 600, 1099, 1100}) {
    const double done = static_cast<double>(n - 100) / 1000;
    EXPECT_DOUBLE_EQ(rate(Schedule::constant, n), 0.3);
    EXPECT_DOUBLE_EQ(rate(Schedule::plateau, n), 0.3) << "validations lower it, not the number of the update";
    EXPECT_DOUBLE_EQ(rate(Schedule::inverse_sqrt, n), 0.3 * std::sqrt(100 / static_cast<double>(n)));
    EXPECT_NEAR(rate(Schedule::cosine, n), 0.15 * (1 + std::cos(pi * done)), 1e-15);
    EXPECT_NEAR(rate(Schedule::linear, n), 0.3 * (1 - done), 1e-15);
    EXPECT_NEAR(rate(Schedule::exponential, n), 0.3 * std::pow(2, -10 * done), 1e-15);
  }
  EXPECT_NEAR(rate(Schedule::cosine, 600), 0.15, 1e-12);
}

/// Shazeer, Stern 2018, section 9: rho_t = min(1e-6 t, 1 / sqrt(t)).
TEST(LearningRate, InverseSqrtHasAdafactorsSteps) {
  TrainOptions o = schedule_options(Schedule::inverse_sqrt, 10000);
  o.learning_rate = 1e-2;
  for (const int64_t n : {1, 777, 10000, 10001, 250000})
    EXPECT_NEAR(learning_rate(o, n), std::min(1e-6 * static_cast<double>(n), 1 / std::sqrt(static_cast<double>(n))),
                1e-15);
}

TEST(LearningRate, SomeNeedAnEnd) {
  const auto trouble = [](Schedule s, const Period& stop) {
    TrainOptions o = schedule_options(s);
    o.stop = stop;
    return error_of([&] { check_end(o); }, ErrorKind::recipe);
  };
  using Unit = Period::Unit;
  for (const Schedule s : {Schedule::cosine, Schedule::linear, Schedule::exponential}) {
    EXPECT_TRUE(depends_on_end(s));
    EXPECT_NE(
        trouble(s, {10, Unit::minutes}).find("comes down until the end, and train.stop = \"10m\" is one that only"),
        std::string::npos);
    EXPECT_NE(trouble(s, {}).find("train.stop = \"0u\" is none"), std::string::npos);
    for (const Unit unit : {Unit::updates, Unit::epochs, Unit::tokens}) {
      TrainOptions o = schedule_options(s);
      o.stop = {20, unit};
      EXPECT_NO_THROW(check_end(o));
    }
  }
  for (const Schedule s : {Schedule::constant, Schedule::inverse_sqrt, Schedule::plateau}) {
    EXPECT_FALSE(depends_on_end(s));
    TrainOptions o = schedule_options(s);
    o.stop = {10, Unit::minutes};
    EXPECT_NO_THROW(check_end(o));
  }
}

TEST(LearningRate, ARunMayEndWithinItsWarmup) {
  for (const Schedule s : {Schedule::cosine, Schedule::linear, Schedule::exponential}) {
    EXPECT_DOUBLE_EQ(learning_rate(schedule_options(s), 20, 20), 0.3 * 20 / 100);
    EXPECT_DOUBLE_EQ(learning_rate(schedule_options(s), 100, 100), 0.3);
  }
}

}  // namespace
}  // namespace attune
