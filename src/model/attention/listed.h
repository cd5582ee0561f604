// Attention along lists of keys, for mechanisms whose rows read a few that lie apart.
#pragma once
#include "autograd/attention/list_attention.h"
#include "model/attention/mechanism.h"

namespace attune {

/// The operation for these rows, ready to run but for dropout.
inline ListAttention listed_attention(const AttentionSetup& setup, const Projected& p, const KeyLists& lists) {
  ListAttention a;
  a.q = p.q;
  a.k = p.k;
  a.v = p.v;
  a.q_column = p.q_column;
  a.k_column = p.k_column;
  a.v_column = p.v_column;
  a.lists = &lists;
  a.heads = setup.heads;
  a.heads_kv = setup.heads_kv;
  a.dim = setup.dim;
  return a;
}

}  // namespace attune
