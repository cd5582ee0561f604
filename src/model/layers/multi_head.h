// Multi-head attention (Vaswani et al. 2017, section 3.2.2): MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O with
// head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V). The projections are here, what happens between them is the
// mechanism's.
#pragma once
#include <memory>
#include <span>

#include "model/attention/mechanism.h"
#include "model/layers/linear.h"
#include "recipe/settings.h"

namespace attune {

/// Rows that read themselves: encoder and decoder self-attention.
struct SelfAttention {
  SelfAttention(const Blueprint& b, const AttentionSetup& setup, std::unique_ptr<AttentionMechanism> mechanism);
  Var operator()(const Pass& pass, const Var& x, const Segments& segments) const;  // [n, d_model]
  Var step(const Pass& pass, const Var& x, AttentionState& state) const;           // one row per sequence

  AttentionSetup setup;
  std::string name;
  JoinedLinear query_key_value;
  Linear output;
  std::unique_ptr<AttentionMechanism> mechanism;
};

/// Rows of the decoder that read the encoder's.
struct CrossAttention {
  CrossAttention(const Blueprint& b, const AttentionSetup& setup, std::unique_ptr<AttentionMechanism> mechanism);
  /// Keys and values of the encoder's rows: made once per source, [m, 2 heads_kv dim].
  Var memory(const Pass& pass, const Var& encoded) const { return key_value(pass, encoded); }
  Var operator()(const Pass& pass, const Var& x, const Segments& queries, const Var& memory,
                 const Segments& sources) const;
  /// One row per hypothesis: row i reads source source_of[i].
  Var step(const Pass& pass, const Var& x, const Var& memory, const Segments& sources,
           std::span<const int32_t> source_of) const;

  AttentionSetup setup;
  std::string name;
  Linear query;
  JoinedLinear key_value;
  Linear output;
  std::unique_ptr<AttentionMechanism> mechanism;
};

}  // namespace attune
