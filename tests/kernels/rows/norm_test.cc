#include "kernels/rows/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace attune::kernels {
namespace {

/// One row by hand: (1, 2, 3, 4) has mean 2.5 and variance 1.25, mean square 7.5.
TEST(NormKernel, OneRowByHand) {
  float x[4] = {1, 2, 3, 4}, gamma[4] = {1, 2, 1, 1}, beta[4] = {0, 0, 10, 0}, y[4], mean, inverse;
  ResidualNorm a;
  a.epsilon = 0;
  a.x = Tensor(x, {1, 4});
  a.y = Tensor(y, {1, 4});
  a.gamma = gamma;
  a.beta = beta;
  a.mean = &mean;
  a.inverse = &inverse;
  residual_norm(a);
  const double sigma = std::sqrt(1.25);
  EXPECT_EQ(mean, 2.5f);
  EXPECT_NEAR(inverse, 1 / sigma, 1e-6);
  EXPECT_NEAR(y[0], -1.5 / sigma, 1e-6);
  EXPECT_NEAR(y[1], 2 * -0.5 / sigma, 1e-6);
  EXPECT_NEAR(y[2], 10 + 0.5 / sigma, 1e-6);
  EXPECT_NEAR(y[3], 1.5 / sigma, 1e-6);
  a.kind = Norm::rms;
  a.beta = nullptr;
  residual_norm(a);
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(y[j], x[j] * gamma[j] / std::sqrt(7.5), 1e-6);
}

/// A row's bits do not depend on its place in the batch but for its dropout key.
TEST(NormKernel, RowsDoNotSeeEachOther) {
  constexpr int64_t n = 50, d = 77;
  std::vector<float> x(n * d), s(n * d), sum(n * d), y(n * d), gamma(d, 1.5f), sum1(d), y1(d);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(static_cast<float>(i));
    s[i] = std::cos(static_cast<float>(3 * i));
  }
  ResidualNorm a;
  a.dropout = {0.5f, 99, 1000};
  a.x = Tensor(x.data(), {n, d});
  a.s = Tensor(s.data(), {n, d});
  a.sum = Tensor(sum.data(), {n, d});
  a.y = Tensor(y.data(), {n, d});
  a.gamma = gamma.data();
  residual_norm(a);
  for (int64_t r = 0; r < n; ++r) {
    ResidualNorm one = a;
    one.dropout.first_row = 1000 + r;
    one.x = a.x.row_range(r, 1);
    one.s = a.s.row_range(r, 1);
    one.sum = Tensor(sum1.data(), {1, d});
    one.y = Tensor(y1.data(), {1, d});
    residual_norm(one);
    EXPECT_EQ(std::memcmp(y1.data(), a.y.row<float>(r), d * 4), 0) << r;
    EXPECT_EQ(std::memcmp(sum1.data(), a.sum.row<float>(r), d * 4), 0) << r;
  }
}

}  // namespace
}  // namespace attune::kernels
