#include <gtest/gtest.h>

#include "attune/metric.h"
#include "checks.h"

namespace attune {
namespace {

// As numpy.corrcoef and scikit-learn's mean_squared_error and f1_score have it.
TEST(NumberMetrics, KnownValues) {
  const std::vector<std::string> said{"1", "2.5", "-3", "4e0", " 0.5 "};
  const std::vector<std::vector<std::string>> right{{"1.5", "2", "-2", "5", "0"}};
  EXPECT_NEAR(measure("pearson", said, right).score, 95.77223092888845, 1e-9);
  EXPECT_NEAR(measure("mse", said, right).score, 0.55, 1e-12);
  EXPECT_TRUE(less_is_better("mse"));
  EXPECT_EQ(measure("pearson", {"1", "1"}, {{"2", "3"}}).score, 0);
  EXPECT_EQ(error_of(
                [] {
                  measure("mse", {"1", "x"}, {{"1", "2"}});
                },
                ErrorKind::data),
            "line 2 of what is scored: \"x\" is not a number\n  fix: write one a line, like 1 or 0.25");
}

TEST(SetMetric, KnownValues) {
  const std::vector<std::string> said{"a b", "", "c", "a a"};
  const std::vector<std::vector<std::string>> right{{"b a", "c", "c d", "a b"}};
  const MetricResult r = measure("set-f1", said, right);
  EXPECT_NEAR(r.score, 100 * 2 * 4.0 / (4 + 7), 1e-9);
  EXPECT_EQ(r.details[0].second, 100);
  EXPECT_NEAR(r.details[1].second, 400.0 / 7, 1e-9);
  EXPECT_EQ(r.details[2].second, 25);
}

}  // namespace
}  // namespace attune
