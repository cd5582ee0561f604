// Matrix products with int8 weights, for using a model that is trained: a quarter of the memory, up to four times the
// speed. Weights have one scale per row of W, rows of x are cut to 8 bits on the way, the sums are exact integers. So
// results are the same bits on every instruction set, for any threads and batch mates.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/matrix/gemm.h"

namespace attune {

/// A matrix of int8 rows: element (j, p) stands for values[j * cols + p] * scales[j].
struct Int8Rows {
  const int8_t* values = nullptr;
  const float* scales = nullptr;
  int64_t rows = 0, cols = 0;
};

/// The same as panels, ready for products x W^T with n = rows and k = cols.
struct PackedInt8 {
  const int8_t* data = nullptr;
  const float* scales = nullptr;
  const int32_t* sums = nullptr;  // of each row's values
  int64_t k = 0, n = 0;
  int panel = 0, group = 0;  // columns per panel, neighbours in k per column: those of the kernel it was packed for
};

namespace kernels {

/// The longest k whose sums fit 32 bits whatever the numbers.
constexpr int64_t kInt8Longest = 65536;

/// Cuts `rows` of weights to int8, symmetrically: scale = largest / 127, nearest even. All must be finite; rows too
/// small to have a scale become zeros.
void quantize_weights(const float* w, int64_t rows, int64_t cols, int8_t* values, float* scales);

/// How many bytes pack_int8() writes for these sizes.
int64_t packed_int8_bytes(int64_t k, int64_t n);
/// Packs for the kernel in use, scales too. `to` must be 64-byte aligned and outlive the result.
PackedInt8 pack_int8(const Int8Rows& w, int8_t* to, ThreadPool* pool = nullptr);

/// C[m, n] = A[m, k] W^T, epilogue as in gemm(). Each row of A is cut to 8 bits of its own range, zero kept exact. A
/// row with a number that is not finite gives not-a-number everywhere before the epilogue.
struct Int8Gemm {
  int64_t m = 0;
  const float* a = nullptr;
  int64_t a_stride = 0;
  const PackedInt8* packed = nullptr;
  float* c = nullptr;
  int64_t c_stride = 0;
  Epilogue epilogue = {};
};
void gemm_int8(const Int8Gemm& g, ThreadPool* pool = nullptr);

/// The kernels this CPU can run with the instruction set that is chosen, best first: "amx", "vnni", "pairs" (16-bit
/// products), "i8mm", "dotprod", or "plain".
std::vector<std::string> available_int8_kernels();
/// Uses that one from now on ("": the best). For tests and measurements; what is packed must be packed anew.
void force_int8_kernel(const std::string& name);
std::string chosen_int8_kernel();

}  // namespace kernels
}  // namespace attune
