// Softmax and cross entropy with label smoothing over rows of logits, in place.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace attune::kernels {

/// For each row z of `classes` logits with the target t, smoothing e and q = (1 - e) onehot(t) + e / classes:
///   loss = -sum of q log softmax(z)
/// and, where wanted, z becomes the gradient scale (softmax(z) - q). A row whose target is negative counts for nothing:
/// loss and gradient 0.
struct CrossEntropy {
  float* logits = nullptr;  // [rows, classes], rows `stride` apart
  int64_t rows = 0, classes = 0, stride = 0;
  const int32_t* targets = nullptr;  // [rows]
  const float* weights = nullptr;    // [rows] or none: what loss and gradient of a row are multiplied by
  float smoothing = 0, scale = 1;
  bool gradient = false;
  float* losses = nullptr;     // [rows]
  float* log_probs = nullptr;  // [rows] or none: log softmax(z)[t], without smoothing
};
void cross_entropy(const CrossEntropy& c, ThreadPool* pool = nullptr);

}  // namespace attune::kernels
