#include "kernels/rows/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace attune::kernels {
namespace {

TEST(ActivationKernel, KnownValues) {
  float x[6] = {-2, -1, 0, 0.5f, 1, 3}, y[6];
  const auto run = [&](Activation kind) { activate_rows({kind, false, {}, Tensor(x, {1, 6}), Tensor(y, {1, 6})}); };
  run(Activation::relu);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(y[i], std::max(0.0f, x[i]));
  run(Activation::gelu);
  EXPECT_NEAR(y[1], -0.15865525, 1e-6);  // -Phi(-1)
  EXPECT_NEAR(y[4], 0.84134475, 1e-6);
  run(Activation::gelu_tanh);
  EXPECT_NEAR(y[4], 0.84119199, 1e-6);
  run(Activation::swish);
  EXPECT_NEAR(y[4], 0.73105858, 1e-6);
  EXPECT_EQ(y[2], 0.0f);
}

/// What is not a number stays so: a diverged run must show.
TEST(ActivationKernel, NotANumberGoesThrough) {
  std::vector<float> x(19, std::numeric_limits<float>::quiet_NaN()), y(19);
  for (int kind = 0; kind <= static_cast<int>(Activation::sigmoid); ++kind) {
    activate_rows({static_cast<Activation>(kind), false, {}, Tensor(x.data(), {1, 19}), Tensor(y.data(), {1, 19})});
    for (float v : y) EXPECT_TRUE(std::isnan(v)) << kind;
  }
}

/// The sign of relu's result says what was kept: no generator is needed in backward.
TEST(ActivationKernel, ReluBackwardFromTheResult) {
  constexpr int64_t n = 9, d = 37;
  std::vector<float> x(n * d), y(n * d), dy(n * d), by_sign(n * d, 1.0f), by_mask(n * d, 1.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(static_cast<float>(7 * i));
    dy[i] = std::cos(static_cast<float>(i));
  }
  const Shape shape{n, d};
  const Dropout dropout{0.4f, 3, 0};
  activate_rows({Activation::relu, false, dropout, Tensor(x.data(), shape), Tensor(y.data(), shape)});
  ActivateBackward b{Activation::relu, false, dropout};
  b.dy = Tensor(dy.data(), shape);
  b.add = true;
  b.y = Tensor(y.data(), shape);
  b.dx = Tensor(by_sign.data(), shape);
  activate_rows_backward(b);
  b.x = Tensor(x.data(), shape);
  b.dx = Tensor(by_mask.data(), shape);
  activate_rows_backward(b);
  EXPECT_EQ(by_sign, by_mask);
}

}  // namespace
}  // namespace attune::kernels
