// Residual connection and layer norm in one pass. The limit is a copy of as many bytes: two rows in, two rows out.
#include "kernels/rows/norm.h"

#include <cmath>

#include "laboratory.h"

namespace attune::laboratory {

namespace {

constexpr int64_t kRows = 4096, kCols = 512, kSize = kRows * kCols;

void naive(const float* x, const float* s, const float* gamma, const float* beta, float* sum, float* y) {
  for (int64_t i = 0; i < kRows; ++i, x += kCols, s += kCols, sum += kCols, y += kCols) {
    float mean = 0, squares = 0;
    for (int64_t j = 0; j < kCols; ++j) mean += sum[j] = x[j] + s[j];
    mean /= kCols;
    for (int64_t j = 0; j < kCols; ++j) squares += (sum[j] - mean) * (sum[j] - mean);
    const float inverse = 1 / std::sqrt(squares / kCols + 1e-5f);
    for (int64_t j = 0; j < kCols; ++j) y[j] = (sum[j] - mean) * inverse * gamma[j] + beta[j];
  }
}

}  // namespace

void add_norm(Experiments& to) {
  const auto x = [] { return random(kSize, 1); };
  Experiment forward;
  forward.name = "residual_norm/4096x512";
  forward.kind = Kind::copy;
  forward.bytes = 16.0 * kSize;
  forward.contenders = {"ours", "naive", "memcpy"};
  forward.make = [x, bytes = forward.bytes] {
    const auto in = x(), s = random(kSize, 2), gamma = random(kCols, 3), beta = random(kCols, 4);
    const auto sum = zeros(kSize), y = zeros(kSize), mean = zeros(kRows), inverse = zeros(kRows);
    return std::vector<Run>{[=] {
                              kernels::ResidualNorm a;
                              a.x = matrix(in, kRows, kCols);
                              a.s = matrix(s, kRows, kCols);
                              a.gamma = gamma->data();
                              a.beta = beta->data();
                              a.sum = matrix(sum, kRows, kCols);
                              a.y = matrix(y, kRows, kCols);
                              a.mean = mean->data();
                              a.inverse = inverse->data();
                              kernels::residual_norm(a);
                            },
                            [=] { naive(in->data(), s->data(), gamma->data(), beta->data(), sum->data(), y->data()); },
                            copy_of(bytes)};
  };
  to.push_back(forward);

  Experiment alone;  // without the residual: what a library has
  alone.name = "layer_norm/4096x512";
  alone.kind = Kind::copy;
  alone.bytes = 8.0 * kSize;
  alone.contenders = {"ours", "oneDNN", "memcpy"};
  alone.make = [x, bytes = alone.bytes] {
    const auto in = x(), y = zeros(kSize), gamma = random(kCols, 3), beta = random(kCols, 4);
    return std::vector<Run>{[=] {
                              kernels::ResidualNorm a;
                              a.x = matrix(in, kRows, kCols);
                              a.gamma = gamma->data();
                              a.beta = beta->data();
                              a.y = matrix(y, kRows, kCols);
                              kernels::residual_norm(a);
                            },
                            onednn_layer_norm(in, y, kRows, kCols), copy_of(bytes)};
  };
  to.push_back(alone);

  Experiment backward;
  backward.name = "residual_norm backward/4096x512";
  backward.kind = Kind::copy;
  backward.bytes = 16.0 * kSize;  // the sum and dy in, dx and ds out
  backward.contenders = {"ours", "memcpy"};
  backward.make = [x, bytes = backward.bytes] {
    const auto sum = x(), dy = random(kSize, 2), gamma = random(kCols, 3), mean = zeros(kRows),
               inverse = random(kRows, 4);
    const auto dx = zeros(kSize), ds = zeros(kSize), dgamma = zeros(kCols), dbeta = zeros(kCols);
    return std::vector<Run>{[=] {
                              kernels::ResidualNormBackward a;
                              a.sum = matrix(sum, kRows, kCols);
                              a.mean = mean->data();
                              a.inverse = inverse->data();
                              a.gamma = gamma->data();
                              a.dy = matrix(dy, kRows, kCols);
                              a.dx = matrix(dx, kRows, kCols);
                              a.ds = matrix(ds, kRows, kCols);
                              a.dgamma = dgamma->data();
                              a.dbeta = dbeta->data();
                              kernels::residual_norm_backward(a);
                            },
                            copy_of(bytes)};
  };
  to.push_back(backward);
}

}  // namespace attune::laboratory
