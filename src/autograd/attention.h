// Multi-head scaled dot-product attention over packed sequences in one operation (Vaswani et al. 2017, section 3.2).
#pragma once
#include "autograd/tape.h"
#include "kernels/attention.h"

namespace attune {

struct Attention {
  Var q, k, v;  // [rows, ...]; one Var may serve as several of them, its columns cut as below
  int64_t q_column = 0, k_column = 0, v_column = 0;  // where the first head begins in a row
  const Segments* queries = nullptr;                 // which rows of q belong together ...
  const Segments* keys = nullptr;            // ... and which of k and v they see; both outlive the backward pass
  int64_t heads = 1, heads_kv = 0, dim = 0;  // heads of q, heads of k and v (0: as many), columns of one head
  float scale = 0;                           // of the scores; 0: 1 / sqrt(dim)
  Mask mask = {};
  Dropout dropout = {};
  const TileHook* hook = nullptr;  // outlives the backward pass
};

/// softmax(scale Q K^T) V per head and segment, [rows of q, heads * dim]. A query that sees no key gives zeros. Memory
/// is linear in the rows: backward keeps q, k, v, the result and one number per row and head. In f64 it runs as the
/// reference does, which knows no hook.
Var attention(Ctx& ctx, const Attention& a);

/// The same composed of plain operations, one head of one segment at a time, in f32 or f64.
Var attention_reference(Ctx& ctx, const Attention& a);

}  // namespace attune
