// Linearised attention over packed sequences (Katharopoulos et al. 2020, equations 4 to 12): instead of weighing every
// key for every query, sums over the keys are kept and read. Time and memory grow with the rows, never with the pairs.
//
//   out_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + epsilon)      S_i = sum over j of phi(k_j) v_j^T      z_i = sum of
//   phi(k_j)
//
// with j over the whole sequence of keys or, causal, up to i.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/attention/attention.h"
#include "tensor/segments.h"

namespace attune {

/// What becomes of queries and keys first: phi.
enum class FeatureMap : uint8_t {
  none,          // they come mapped
  elu_plus_one,  // x + 1 above 0, exp(x) below: positive everywhere
};

/// What the sum a query reads is divided by.
enum class LinearNorm : uint8_t {
  by_sum,    // phi(q)^T z + epsilon, as above
  by_count,  // the number of keys it sees (Luna, Ma et al. 2021, equation 8): no z
};

namespace kernels {

/// What all passes share. Head h is columns [h * dim, (h + 1) * dim) of q and, value_dim wide, of out; query heads
/// share key-value heads in runs of heads / heads_kv.
struct LinearShape {
  const Segments* queries = nullptr;
  const Segments* keys = nullptr;  // causal: of the same lengths
  int64_t heads = 1, heads_kv = 1, dim = 0, value_dim = 0;
  bool causal = false;
  FeatureMap feature = FeatureMap::elu_plus_one;
  LinearNorm norm = LinearNorm::by_sum;
  float epsilon = 1e-6f;  // what the authors' library, fast-transformers, adds to the divisor
};

struct LinearForward {
  LinearShape shape;
  Rows q, k, v, out;
  float* inverse = nullptr;        // [heads, query rows]: 1 / divisor of each row, which backward needs; may be absent
  float* const* states = nullptr;  // per segment: where the sums over all its keys go, for steps to go on from; or none
  void* scratch = nullptr;         // linear_scratch bytes
};
void linear_forward(const LinearForward& a, ThreadPool* pool);

struct LinearBackward {
  LinearShape shape;
  Rows q, k, v, out, dout;  // out: by_sum only
  const float* inverse = nullptr;
  Rows dq, dk, dv;  // any may be absent (data == nullptr)
  bool add_dq = false, add_dk = false, add_dv = false;
  void* scratch = nullptr;
};
void linear_backward(const LinearBackward& a, ThreadPool* pool);

/// Bytes of scratch for so many workers, however long the sequences: some rows, and the sums of each head.
int64_t linear_scratch(const LinearShape& shape, int workers, bool backward);

/// Floats of one sequence's sums: S [heads_kv, dim, value_dim], then z [heads_kv, dim]. All zeros before the first key.
inline int64_t linear_state_floats(const LinearShape& x) { return x.heads_kv * x.dim * (x.value_dim + 1); }

/// One position for each row, for decoding: its key and value are added to the row's sums, then its query reads them.
/// Time and memory do not depend on how many came before. The shape's segments and mask have no say.
struct LinearStep {
  LinearShape shape;
  int64_t rows = 0;
  Rows q, k, v, out;               // no k and v (data == nullptr): the sums are only read, and rows may share them
  float* const* states = nullptr;  // per row: linear_state_floats
  const int32_t* count = nullptr;  // per row, by_count only: keys in the sums, this step's among them
  void* scratch = nullptr;         // linear_step_scratch bytes
};
void linear_step(const LinearStep& a, ThreadPool* pool = nullptr);

int64_t linear_step_scratch(const LinearShape& shape, int workers);

}  // namespace kernels
}  // namespace attune
