#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace attune {
namespace {

TEST(Half, EveryF16ComesBack) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float x = of_f16(static_cast<uint16_t>(h));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(of_f16(f16_of(x))));
      continue;
    }
    ASSERT_EQ(f16_of(x), h) << x;
  }
}

TEST(Half, NearestEven) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-26, 17), mantissa(1, 2);
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<float>(std::exp2(std::floor(exponent(random))) * mantissa(random));
    const int e = std::max(std::ilogb(x), -14);
    const double step = std::exp2(e - 10), expected = std::nearbyint(static_cast<double>(x) / step) * step;
    const float got = of_f16(f16_of(x));
    if (expected > 65504)
      ASSERT_TRUE(std::isinf(got)) << x;
    else
      ASSERT_EQ(static_cast<double>(got), expected) << x;
    ASSERT_EQ(of_f16(f16_of(-x)), -got);
  }
  EXPECT_EQ(of_f16(f16_of(1.0f + 0x1p-11f)), 1.0f);  // ties to even
  EXPECT_EQ(of_f16(f16_of(1.0f + 0x1.8p-10f)), 1.0f + 0x1p-9f);
  EXPECT_EQ(f16_of(0x1p-25f), 0);
  EXPECT_EQ(f16_of(0x1.1p-25f), 1);
  EXPECT_EQ(of_f16(f16_of(65504.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(of_f16(f16_of(65520.0f))));
  EXPECT_TRUE(std::isinf(of_f16(f16_of(std::numeric_limits<float>::infinity()))));
  EXPECT_TRUE(std::signbit(of_f16(f16_of(-0.0f))));
}

TEST(Half, Bf16) {
  EXPECT_EQ(of_bf16(0x3f80), 1.0f);
  EXPECT_EQ(of_bf16(0xc049), -3.140625f);
}

}  // namespace
}  // namespace attune
