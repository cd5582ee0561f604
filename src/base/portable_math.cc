#include "base/portable_math.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

// Of the C library only what is exact is used: frexp, ldexp, nearbyint, fmod, fabs.

namespace attune::portable {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// ln 2 and pi / 2 in parts: products of the first ones with whole numbers that matter here are exact.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kHalfPi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
constexpr double kFarthest = 1e6;  // beyond, what is lost of pi shows

/// e^r by its series, |r| <= ln 2 / 2.
double exp_near_nought(double r) {
  double sum = 1;
  for (int n = 14; n > 0; --n) sum = 1 + r * sum / n;
  return sum;
}

double scaled(double x, double power) {
  if (power > 2000) return kInfinity;
  if (power < -2000) return 0;
  return std::ldexp(x, static_cast<int>(power));
}

/// x = quarter * pi / 2 + rest, |rest| <= pi / 4 or a little more.
struct Turned {
  int64_t quarter;
  double rest;
};
Turned turned(double x) {
  if (std::fabs(x) > kFarthest) x = std::fmod(x, 2 * std::numbers::pi);
  const double k = std::nearbyint(x * (2 / std::numbers::pi));
  return {static_cast<int64_t>(k), ((x - k * kHalfPi[0]) - k * kHalfPi[1]) - k * kHalfPi[2]};
}

/// Their series, up to pi / 4.
double sin_near(double r) {
  double sum = 1;
  for (int n = 18; n > 0; n -= 2) sum = 1 - r * r * sum / (n * (n + 1));
  return r * sum;
}
double cos_near(double r) {
  double sum = 1;
  for (int n = 18; n > 0; n -= 2) sum = 1 - r * r * sum / (n * (n - 1));
  return sum;
}

}  // namespace

double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  const double k = std::nearbyint(x * std::numbers::log2e);
  return scaled(exp_near_nought((x - k * kLn2High) - k * kLn2Low), k);
}

double exp2(double x) {
  if (std::isnan(x)) return x;
  const double k = std::nearbyint(x);
  return scaled(exp_near_nought((x - k) * std::numbers::ln2), k);
}

double log(double x) {
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  int power = 0;
  double m = std::frexp(x, &power);  // 1/2 <= m < 1
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --power;
  }
  // ln m = 2 artanh((m - 1) / (m + 1))
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int n = 25; n > 1; n -= 2) sum = square * (1.0 / n + sum);
  const double k = power;
  return k * kLn2High + (k * kLn2Low + (2 * s + 2 * s * sum));
}

double log1p(double x) {
  const double y = 1 + x;
  return y == 1 ? x : y == kInfinity ? y : log(y) * (x / (y - 1));  // what the sum has lost cancels (Kahan)
}

double pow(double x, double y) { return y == 0 || x == 1 ? 1 : exp(y * log(x)); }

double sin(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  const Turned t = turned(x);
  const double y = t.quarter & 1 ? cos_near(t.rest) : sin_near(t.rest);
  return t.quarter & 2 ? -y : y;
}

double cos(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  const Turned t = turned(x);
  const double y = t.quarter & 1 ? sin_near(t.rest) : cos_near(t.rest);
  return (t.quarter + 1) & 2 ? -y : y;
}

}  // namespace attune::portable
