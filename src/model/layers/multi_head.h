// Multi-head attention (Vaswani et al. 2017, section 3.2.2): MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O with
// head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V). The projections are here, what happens between them is the
// mechanism's.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "model/attention/mechanism.h"
#include "model/layers/linear.h"
#include "model/position/scheme.h"

namespace attune {

/// Rows that read themselves: encoder and decoder self-attention.
struct SelfAttention {
  /// `position`: what the stack's scheme does in this layer, or none.
  SelfAttention(const Blueprint& b, const AttentionSetup& setup, std::unique_ptr<AttentionMechanism> mechanism,
                std::unique_ptr<RelativePosition> position);
  Var operator()(const Pass& pass, const Var& x, const Segments& segments, Carried& carried) const {  // [n, d_model]
    return mechanism->attend(pass, *this, x, segments, carried);
  }
  /// One row per sequence, at the positions `where`.
  Var step(const Pass& pass, const Var& x, const RowPositions& where, AttentionState& state) const {
    return mechanism->attend_step(pass, *this, x, where, state);
  }
  /// The same where rows have several states: they are projected together.
  Var step(const Pass& pass, const Var& x, const RowPositions& where, std::span<const StateShare> states) const;
  /// Queries, keys and values of rows, turned as the position scheme wants.
  Projected project(const Pass& pass, const Var& x, const Segments* segments, const RowPositions& where) const;
  /// The same for a mechanism that has projected them itself; queries and keys stand at these positions.
  Projected placed(const Pass& pass, const Projected& p, const RowPositions& queries, const RowPositions& keys) const;
  /// Writes down what they attend to, if the pass was asked for it.
  void look(const Pass& pass, const Projected& p) const;
  /// Where to write that to, [heads, queries, keys], for a mechanism that knows better; null: nobody asks.
  float* tapped(const Pass& pass, int64_t queries, int64_t keys) const;

  AttentionSetup setup;
  std::string name;
  std::unique_ptr<AttentionMechanism> mechanism;
  LayerParts parts;
  std::unique_ptr<RelativePosition> position;
  std::optional<JoinedLinear> query_key_value;
  std::optional<Linear> output;
};

/// The sources that some of the rows of a step read: row i of them reads sequence source_of[i].
struct MemoryShare {
  const Var* memory = nullptr;  // CrossAttention::memory
  const Segments* sources = nullptr;
  std::span<const int32_t> source_of = {};
};

/// Rows of the decoder that read the encoder's.
struct CrossAttention {
  CrossAttention(const Blueprint& b, const AttentionSetup& setup, std::unique_ptr<AttentionMechanism> mechanism);
  /// Keys and values of the encoder's rows: made once per source, [m, 2 heads_kv dim].
  Var memory(const Pass& pass, const Var& encoded) const { return key_value(pass, encoded); }
  Var operator()(const Pass& pass, const Var& x, const Segments& queries, const Var& memory,
                 const Segments& sources) const;
  /// One row per hypothesis, share after share.
  Var step(const Pass& pass, const Var& x, std::span<const MemoryShare> shares) const;

  AttentionSetup setup;
  std::string name;
  Linear query;
  JoinedLinear key_value;
  Linear output;
  std::unique_ptr<AttentionMechanism> mechanism;
};

}  // namespace attune
