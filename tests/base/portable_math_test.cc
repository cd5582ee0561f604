#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace attune {
namespace {

/// In units of the last place of what is right, as the C library of this machine has it to half a unit or so.
double units_off(double got, double right) {
  if (got == right || (std::isnan(got) && std::isnan(right))) return 0;
  const double unit = std::nextafter(std::fabs(right), std::numeric_limits<double>::infinity()) - std::fabs(right);
  return std::fabs(got - right) / unit;
}

TEST(PortableMath, IsRightToTwoUnits) {
  Random random(1);
  double of_exp = 0, of_log = 0, of_log1p = 0, of_sin = 0, of_exp2 = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double u = random.uniform(), x = (2 * u - 1) * 700;
    of_exp = std::max(of_exp, units_off(portable::exp(x), std::exp(x)));
    of_exp2 = std::max(of_exp2, units_off(portable::exp2(x), std::exp2(x)));
    const double positive = std::exp(x);
    of_log = std::max(of_log, units_off(portable::log(positive), std::log(positive)));
    const double small = (u - 0.4) * std::exp(-20 * random.uniform());
    of_log1p = std::max(of_log1p, units_off(portable::log1p(small), std::log1p(small)));
    const double angle = (2 * u - 1) * (i % 2 ? 10 : 1e5);
    of_sin = std::max(
        {of_sin, std::fabs(portable::sin(angle) - std::sin(angle)), std::fabs(portable::cos(angle) - std::cos(angle))});
    const double power = 20 * random.uniform() - 10, base = 1 + 1e4 * u;
    EXPECT_NEAR(portable::pow(base, power) / std::pow(base, power), 1, 2e-14);
  }
  EXPECT_LE(of_exp, 2);
  EXPECT_LE(of_exp2, 2);
  EXPECT_LE(of_log, 2);
  EXPECT_LE(of_log1p, 4);
  EXPECT_LE(of_sin, 3e-16);
}

TEST(PortableMath, EndsOfTheirRanges) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_EQ(portable::exp(1000), infinity);
  EXPECT_EQ(portable::exp(-1000), 0);
  EXPECT_EQ(portable::exp(-infinity), 0);
  EXPECT_EQ(portable::exp2(-3), 0.125);
  EXPECT_EQ(portable::log(1), 0);
  EXPECT_EQ(portable::log(0), -infinity);
  EXPECT_EQ(portable::log(infinity), infinity);
  EXPECT_NEAR(portable::log(5e-324), std::log(5e-324), 1e-12);
  EXPECT_EQ(portable::log1p(1e-20), 1e-20);
  EXPECT_EQ(portable::log1p(-1), -infinity);
  EXPECT_EQ(portable::pow(0.98, 0), 1);
  EXPECT_NEAR(portable::pow(0.98, 1e6), 0, 1e-300);
  EXPECT_EQ(portable::cos(0), 1);
  EXPECT_EQ(portable::sin(0), 0);
  for (const double x : {1e6 + 0.5, 1e9, -1e12}) {
    EXPECT_NEAR(portable::sin(x), std::sin(x), 1e-3) << x;
    EXPECT_NEAR(portable::sin(x) * portable::sin(x) + portable::cos(x) * portable::cos(x), 1, 1e-15);
  }
  for (const double bad : {nan, -1.0}) EXPECT_TRUE(std::isnan(portable::log(bad)));
  for (double (*f)(double) : {portable::exp, portable::exp2, portable::sin, portable::cos})
    EXPECT_TRUE(std::isnan(f(nan)));
  EXPECT_TRUE(std::isnan(portable::sin(infinity)));
}

/// The bits themselves, whatever machine and library this is.
TEST(PortableMath, HasTheSameBitsEverywhere) {
  uint64_t all = 0;
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const double u = static_cast<double>(random.below(1 << 30)) / (1 << 20);  // 0 to 1024
    for (const double y : {portable::exp(u / 2 - 256), portable::exp2(u / 64), portable::log(u + 1),
                           portable::log1p(u / 1e4), portable::pow(u + 1, 0.37), portable::sin(u), portable::cos(u)})
      all = mix(all ^ std::bit_cast<uint64_t>(y));
  }
  EXPECT_EQ(all, 0xf19873b4c20f4b11u) << std::hex << all;
}

}  // namespace
}  // namespace attune
