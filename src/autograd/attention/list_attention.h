// Attention of each row to a list of rows, in one operation.
#pragma once
#include "autograd/tape.h"
#include "kernels/attention/list_attention.h"

namespace attune {

struct ListAttention {
  Var q, k, v;  // rows of heads side by side; one Var may serve as several of them, its columns cut as below
  int64_t q_column = 0, k_column = 0, v_column = 0;
  Var more;  // further rows of keys and values side by side, listed behind those of k and v; may be empty
  const KeyLists* lists = nullptr;           // rows of k and v for each row of q; outlive the backward pass
  int64_t heads = 1, heads_kv = 0, dim = 0;  // 0: as many as heads
  double scale = 0;                          // 0: 1 / sqrt(dim)
  Dropout dropout = {};                      // of the so-manieth key of a row's list
};

/// softmax over a row's list of scale q . k, times v: [rows of q, heads * dim]. A row that reads nothing gives zeros.
/// In f64 it runs as the reference does.
Var list_attention(Ctx& ctx, const ListAttention& a);

/// The same composed of plain operations, in f32 or f64.
Var list_attention_reference(Ctx& ctx, const ListAttention& a);

/// What each head of a row gives its keys, without dropout: [pairs, heads].
Var list_weights(Ctx& ctx, const ListAttention& a);

}  // namespace attune
