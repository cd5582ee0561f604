// One update of stochastic gradient descent with momentum over flat memory.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace attune::kernels {

/// Gradient descent with momentum (Polyak 1964) or with Nesterov's (Sutskever et al. 2013).
struct SgdStep {
  double rate = 1e-2, momentum = 0.9;
  double decay = 0;        // parameters shrink by rate * decay
  double grad_factor = 1;  // gradients are multiplied by this first
  bool nesterov = false;
};

/// Arrays of `count` numbers. Without a velocity there is no momentum.
template <class T>
struct SgdArrays {
  T* parameters = nullptr;
  const T* gradients = nullptr;
  T* velocity = nullptr;
  int64_t count = 0;
};

/// v = momentum v + g, p = (1 - rate decay) p - rate v; Nesterov: p = ... - rate (g + momentum v). One pass.
void sgd(const SgdStep& s, const SgdArrays<float>& a, ThreadPool* pool = nullptr);
/// The same by a naive loop in double: what sgd is checked against.
void sgd_reference(const SgdStep& s, const SgdArrays<double>& a);

/// average += share (now - average), for each of n numbers: an exponential moving average.
void move_average(float* average, const float* now, int64_t n, double share, ThreadPool* pool = nullptr);

}  // namespace attune::kernels
