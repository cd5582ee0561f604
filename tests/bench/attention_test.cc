#include <gtest/gtest.h>

#include <cmath>

#include "attune/bench.h"

namespace attune {
namespace {

TEST(BenchAttention, TellsGrowthAndWhereItBeginsToPay) {
  std::vector<AttentionFigure> figures;
  for (const int64_t n : {256, 1024, 4096, 16384})
    for (const char* name : {"softmax", "linear"}) {
      AttentionFigure f;
      f.mechanism = name;
      f.length = f.rows = n;
      const auto x = static_cast<double>(n);
      f.forward_ms = name[0] == 's' ? x * x / 3 : 800 * std::pow(x, 1.1) / 3;
      f.backward_ms = 2 * f.forward_ms;
      figures.push_back(f);
    }
  const auto growth = attention_growth(figures);
  ASSERT_EQ(growth.size(), 2u);
  EXPECT_EQ(growth[0].mechanism, "softmax");
  EXPECT_NEAR(growth[0].exponent, 2, 1e-9);
  EXPECT_EQ(growth[0].faster_from, 0);
  EXPECT_NEAR(growth[1].exponent, 1.1, 1e-9);
  EXPECT_EQ(growth[1].from, 4096);
  EXPECT_EQ(growth[1].to, 16384);
  EXPECT_EQ(growth[1].faster_from, 4096);  // 1,024 to the power of 0.9 is 512: not 800 yet
  figures.resize(2);
  EXPECT_TRUE(attention_growth(figures).empty());
}

}  // namespace
}  // namespace attune
