// Matrix products in f32, at the machine's limit, with bits that never change (see kernels/tile.h for why).
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/rows/activation.h"

namespace attune {

/// A right-hand matrix [k, n] rearranged into column panels. Pack a weight once and use it for many products.
struct PackedMatrix {
  const float* data = nullptr;
  int64_t k = 0, n = 0;
  int panel = 0;  // columns per panel: that of the instruction set it was packed for
};

namespace kernels {

/// What happens to an output when its sum is complete, in this order.
struct Epilogue {
  const float* bias = nullptr;  // [n], added
  float* before = nullptr;      // [m, n], receives the value before the activation
  int64_t before_stride = 0;
  Activation activation = Activation::none;
  const float* residual = nullptr;  // [m, n], added
  int64_t residual_stride = 0;
  bool any() const { return bias || before || residual || activation != Activation::none; }
};

/// C[m, n] = A[m, k] B[k, n], or C += A B. A and B may be given transposed: element (i, p) of A is then a[p * stride +
/// i], element (p, j) of B is b[j * stride + p]. B may be prepacked instead.
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t a_stride = 0;
  bool a_transposed = false;
  const float* b = nullptr;
  int64_t b_stride = 0;
  bool b_transposed = false;
  const PackedMatrix* packed = nullptr;
  float* c = nullptr;
  int64_t c_stride = 0;
  bool add = false;
  Epilogue epilogue = {};
};

void gemm(const Gemm& g, ThreadPool* pool = nullptr);

/// How many floats pack() writes for a [k, n] matrix.
int64_t packed_floats(int64_t k, int64_t n);
/// Packs b (given like Gemm::b) into `to`, which must be 64-byte aligned and outlive the result.
PackedMatrix pack(const float* b, int64_t b_stride, bool b_transposed, int64_t k, int64_t n, float* to,
                  ThreadPool* pool = nullptr);

/// GFLOP/s of a loop of fused multiply-adds in registers alone: what "peak" means in every figure of this project.
double measure_peak_gflops(double seconds = 0.05);

}  // namespace kernels
}  // namespace attune
