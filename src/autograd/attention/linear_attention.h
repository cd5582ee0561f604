// Multi-head linearised attention over packed sequences in one operation (Katharopoulos et al. 2020): time and memory
// are linear in the rows, and decoding remembers sums of constant size.
#pragma once
#include "autograd/tape.h"
#include "kernels/attention/linear_attention.h"

namespace attune {

struct LinearAttention {
  Var q, k, v;  // [rows, ...]; one Var may serve as several of them, its columns cut as below
  int64_t q_column = 0, k_column = 0, v_column = 0;  // where the first head begins in a row
  const Segments* queries = nullptr;                 // which rows of q belong together ...
  const Segments* keys = nullptr;   // ... and which of k and v they see; both outlive the backward pass
  int64_t heads = 1, heads_kv = 0;  // of q, of k and v (0: as many)
  int64_t dim = 0, value_dim = 0;   // columns of one head of q and k, and of v (0: as many)
  bool causal = false;              // a query sees keys up to its own place; sequences of q and k are as long
  FeatureMap feature = FeatureMap::elu_plus_one;
  LinearNorm norm = LinearNorm::by_sum;
  float epsilon = 1e-6f;           // added to the divisor by_sum, as the authors' library does
  float* const* states = nullptr;  // per segment: where its sums go (kernels::linear_state_floats), in f32; or none
};

/// phi(Q) (phi(K)^T V) / (phi(Q) phi(K)^T 1) per head and segment, [rows of q, heads * value_dim]. A query that sees no
/// key gives zeros. Backward keeps q, k, v, the result and one number per row and head. In f64 it runs as the reference
/// does, which leaves no states.
Var linear_attention(Ctx& ctx, const LinearAttention& a);

/// The same composed of plain operations, every weight computed, one head of one segment at a time, in f32 or f64.
Var linear_attention_reference(Ctx& ctx, const LinearAttention& a);

/// x + 1 above 0, exp(x) below, composed of plain operations.
Var elu_plus_one(Ctx& ctx, const Var& x);

}  // namespace attune
