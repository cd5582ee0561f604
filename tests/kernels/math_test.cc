// The polynomials of kernels/math.h against libm in double, under every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#define KERNELS_FILE "kernels/math_test.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/math.h"

KERNELS_BEGIN

void apply_math(int which, const float* x, float* y, int64_t n) {
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    const auto v = load_at(x + j, count);
    const auto out = which == 0   ? exp2(v)
                     : which == 1 ? exp(v)
                     : which == 2 ? log2(v)
                     : which == 3 ? log(v)
                     : which == 4 ? tanh(v)
                     : which == 5 ? erf(v)
                                  : sigmoid(v);
    store_at(out, y + j, count);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune {
namespace kernels {
namespace {
KERNEL_EXPORT(apply_math);
void apply_math(int which, const float* x, float* y, int64_t n) { KERNEL_CALL(apply_math)(which, x, y, n); }
}  // namespace
}  // namespace kernels

namespace {

enum Function { kExp2, kExp, kLog2, kLog, kTanh, kErf, kSigmoid };

std::vector<float> apply(Function f, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  kernels::apply_math(f, x.data(), y.data(), static_cast<int64_t>(x.size()));
  return y;
}
float at(Function f, float x) { return apply(f, {x})[0]; }

std::vector<float> grid(double from, double to, int64_t n = 200001) {
  std::vector<float> x;
  for (int64_t i = 0; i < n; ++i)
    x.push_back(static_cast<float>(from + (to - from) * static_cast<double>(i) / static_cast<double>(n - 1)));
  return x;
}

struct Errors {
  double absolute = 0, relative = 0;
};
Errors errors(Function f, double (*exact)(double), const std::vector<float>& x) {
  const std::vector<float> y = apply(f, x);
  Errors e;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = exact(static_cast<double>(x[i])), off = std::abs(static_cast<double>(y[i]) - want);
    if (!(off <= 1e300)) return {INFINITY, INFINITY};
    e.absolute = std::max(e.absolute, off);
    if (want != 0) e.relative = std::max(e.relative, off / std::abs(want));
  }
  return e;
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Runs the test's body under every instruction set; `fma` says whether it has fused multiply-add.
void everywhere(const std::function<void(bool fma)>& body) {
  for (const std::string& isa : available_isas()) {
    SCOPED_TRACE(isa);
    force_isa(isa);
    body(isa_has_fma(isa));
  }
  force_isa("auto");
}

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Math, Exp2) {
  everywhere([](bool) {
    EXPECT_LT(errors(kExp2, std::exp2, grid(-125.9, 127.9)).relative, 1.3e-7);
    EXPECT_LT(errors(kExp2, std::exp2, grid(-1, 1)).relative, 1.3e-7);
    EXPECT_EQ(at(kExp2, 0), 1.0f);
    EXPECT_EQ(at(kExp2, -126.01f), 0.0f);
    EXPECT_EQ(at(kExp2, -1e30f), 0.0f);
    EXPECT_EQ(at(kExp2, -kInf), 0.0f);
    EXPECT_GT(at(kExp2, 1e30f), 3.4e38f);
    EXPECT_TRUE(std::isfinite(at(kExp2, kInf)));
    EXPECT_TRUE(std::isnan(at(kExp2, kNan)));
  });
}

TEST(Math, Exp) {
  everywhere([](bool fma) {
    EXPECT_LT(errors(kExp, std::exp, grid(-87.3, 88.7)).relative, fma ? 1.3e-7 : 6e-6);
    EXPECT_LT(errors(kExp, std::exp, grid(-1, 1)).relative, 1.6e-7);
    EXPECT_EQ(at(kExp, 0), 1.0f);
    EXPECT_EQ(at(kExp, -88), 0.0f);
    EXPECT_EQ(at(kExp, -kInf), 0.0f);
    EXPECT_GT(at(kExp, 1e30f), 3.4e38f);
    EXPECT_TRUE(std::isnan(at(kExp, kNan)));
  });
}

TEST(Math, Log) {
  everywhere([](bool) {
    std::vector<float> wide;
    for (float e : grid(-125, 127)) wide.push_back(std::exp2(e));
    for (auto [f, exact] : {std::pair{kLog, static_cast<double (*)(double)>(std::log)},
                            std::pair{kLog2, static_cast<double (*)(double)>(std::log2)}}) {
      EXPECT_LT(errors(f, exact, wide).relative, 4e-7);
      EXPECT_LT(errors(f, exact, grid(0.5, 2)).relative, 4e-7);
      EXPECT_LT(errors(f, exact, grid(0.9999, 1.0001)).relative, 4e-7);
      EXPECT_EQ(at(f, 1), 0.0f);
      EXPECT_TRUE(std::isnan(at(f, kNan)));
    }
    EXPECT_EQ(at(kLog2, 8), 3.0f);
    EXPECT_EQ(at(kLog2, 0x1p-100f), -100.0f);
  });
}

TEST(Math, Tanh) {
  everywhere([](bool) {
    EXPECT_LT(errors(kTanh, std::tanh, grid(-12, 12)).absolute, 4e-7);
    EXPECT_LT(errors(kTanh, std::tanh, grid(-1e-3, 1e-3)).relative, 4e-7);
    for (float x : {20.0f, 1e30f, kInf}) {
      EXPECT_EQ(at(kTanh, x), 1.0f);
      EXPECT_EQ(at(kTanh, -x), -1.0f);
    }
    EXPECT_TRUE(std::isnan(at(kTanh, kNan)));
  });
}

TEST(Math, Erf) {
  everywhere([](bool) {
    EXPECT_LT(errors(kErf, std::erf, grid(-6, 6)).absolute, 5e-7);
    EXPECT_LT(errors(kErf, std::erf, grid(-1e-3, 1e-3)).relative, 4e-7);
    for (float x : {20.0f, 1e30f, kInf}) {
      EXPECT_EQ(at(kErf, x), 1.0f);
      EXPECT_EQ(at(kErf, -x), -1.0f);
    }
    EXPECT_TRUE(std::isnan(at(kErf, kNan)));
  });
}

TEST(Math, Sigmoid) {
  everywhere([](bool fma) {
    EXPECT_LT(errors(kSigmoid, sigmoid, grid(-30, 30)).absolute, 2e-7);
    EXPECT_LT(errors(kSigmoid, sigmoid, grid(-87, 30)).relative, fma ? 4e-7 : 6e-6);
    EXPECT_EQ(at(kSigmoid, 200), 1.0f);
    EXPECT_EQ(at(kSigmoid, -200), 0.0f);
    EXPECT_EQ(at(kSigmoid, -kInf), 0.0f);
    EXPECT_TRUE(std::isnan(at(kSigmoid, kNan)));
  });
}

/// Sets with FMA give the same bits, tails included.
TEST(Math, SameBitsUnderEveryInstructionSet) {
  const std::vector<float> x = grid(0.01, 3, 1003);
  for (Function f : {kExp2, kExp, kLog2, kLog, kTanh, kErf, kSigmoid}) {
    std::vector<float> first;
    everywhere([&](bool fma) {
      if (!fma) return;
      const std::vector<float> y = apply(f, x);
      if (first.empty()) first = y;
      EXPECT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)), 0) << f;
    });
  }
}

}  // namespace
}  // namespace attune
#endif
