// The optimiser's passes over flat memory: one update of Adam, and the norm that clipping needs.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace attune::kernels {

/// Adam (Kingma, Ba 2015) with decoupled weight decay (AdamW: Loshchilov, Hutter 2019); the defaults are the
/// Transformer paper's.
struct AdamStep {
  int64_t step = 1;  // counts from 1: the moments' bias is corrected by it
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  double decay = 0;        // parameters shrink by rate * decay
  double grad_factor = 1;  // gradients are multiplied by this first: clipping, or the mean over tokens
};

/// Four arrays of `count` numbers, all but the gradients updated.
template <class T>
struct AdamArrays {
  T* parameters = nullptr;
  const T* gradients = nullptr;
  T *first = nullptr, *second = nullptr;  // the moments
  int64_t count = 0;
};

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p = (1 - rate decay) p - rate m' / (sqrt(v') + epsilon), where m'
/// and v' are m and v over 1 - b^step. One pass. Arrays may be cut anywhere (to decay some parameters and not others):
/// the bits don't change.
void adam(const AdamStep& s, const AdamArrays<float>& a, ThreadPool* pool = nullptr);
/// The same by a naive loop in double: what adam is checked against.
void adam_reference(const AdamStep& s, const AdamArrays<double>& a);

/// The sum of squares of n numbers: sixteen lanes in blocks of 4096, then a binary tree in double over the blocks, so
/// that the bits depend on nothing but the numbers.
double square_norm(const float* x, int64_t n, ThreadPool* pool = nullptr);

}  // namespace attune::kernels
