// Residual connection, dropout and normalisation of rows in one pass: sum = x + dropout(s), y = norm(sum) gamma + beta.
#pragma once
#include <cstdint>

#include "base/random.h"
#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace attune {

/// layer: (x - mean) / sigma (Ba, Kiros, Hinton 2016); rms: x / sqrt(mean of squares) (Zhang, Sennrich 2019).
enum class Norm : uint8_t { layer, rms };

namespace kernels {

struct ResidualNorm {
  Norm kind = Norm::layer;
  float epsilon = 1e-5f;
  Dropout dropout = {};
  Tensor x = {}, s = {};                          // [n, d]; without s the sum is x itself
  const float *gamma = nullptr, *beta = nullptr;  // [d]; beta may be missing
  Tensor sum = {}, y = {};                        // [n, d]; sum is written only where s is
  float *mean = nullptr, *inverse = nullptr;      // [n]: what backward needs, 1 / sigma the second; may be missing
};
void residual_norm(const ResidualNorm& a, ThreadPool* pool = nullptr);

struct ResidualNormBackward {
  Norm kind = Norm::layer;
  Dropout dropout = {};
  Tensor sum = {};  // [n, d], and what forward left beside it
  const float *mean = nullptr, *inverse = nullptr, *gamma = nullptr;
  Tensor dy = {}, dsum = {};  // gradients of both results; one of them may be missing
  Tensor dx = {}, ds = {};    // where the gradients go, each only if wanted; added to what is there or stored
  bool add_x = false, add_s = false;
  float *dgamma = nullptr, *dbeta = nullptr;
  bool add_gamma = false, add_beta = false;
};
void residual_norm_backward(const ResidualNormBackward& a, ThreadPool* pool = nullptr);

}  // namespace kernels
}  // namespace attune
