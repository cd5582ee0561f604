// Multi-head attention (Vaswani et al. 2017, section 3.2.2): MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O with
// head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V). The projections are here, what happens between them is the
// mechanism's.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "model/attention/relative_position.h"
#include "model/decoder.h"
#include "model/layers/linear.h"

namespace attune {

/// Rows that read themselves: encoder and decoder self-attention.
struct SelfAttention : Mixer {
  /// `position`: what the stack's scheme does in this layer, or none.
  SelfAttention(const Blueprint& b, const AttentionSetup& setup, std::unique_ptr<AttentionMechanism> mechanism,
                std::unique_ptr<RelativePosition> position);
  Var operator()(const Pass& pass, const Var& x, const Segments& segments, Carried& carried) const override {
    return mechanism->attend(pass, *this, x, segments, carried);
  }
  std::unique_ptr<AttentionState> state(int64_t rows) const override { return mechanism->state(rows); }
  /// Where rows have several states, they are projected together.
  Var step(const Pass& pass, const Var& x, const RowPositions& where,
           std::span<const StateShare> states) const override;
  Var prefill(const Pass& pass, const Var& x, const Segments& segments, AttentionState& state,
              bool wanted) const override;
  bool feed_forward() const override { return parts.feed_forward; }
  int64_t memory() const override { return mechanism->memory(); }
  const OwnRows* own_rows() const override { return mechanism->own_rows(); }
  double operations(const Parameters& parameters, const Segments& queries, const Segments& keys) const override {
    return mechanism->operations(parameters, queries, keys);
  }
  double multiplied_weights() const override;
  void after_update(Parameters& parameters, const Gradients& gathered) const override {
    mechanism->after_update(parameters, gathered);
  }
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
  AttentionState* last = nullptr;  // what they attended to last, where the mechanism remembers that
};

/// Rows of the decoder that read the encoder's.
struct CrossAttention {
  /// `read_width`: columns of the encoder's rows.
  CrossAttention(const Blueprint& b, const AttentionSetup& setup, int64_t read_width,
                 std::unique_ptr<AttentionMechanism> mechanism);
  /// Keys and values of the encoder's rows: made once per source, [m, 2 heads_kv dim].
  Var memory(const Pass& pass, const Var& encoded) const { return key_value(pass, encoded); }
  Var operator()(const Pass& pass, const Var& x, const Segments& queries, const Var& memory,
                 const Segments& sources) const;
  /// Weights that a row of the encoder, and a row of the decoder, is multiplied by.
  MultipliedWeights multiplied_weights() const;
  /// One row per hypothesis, share after share.
  Var step(const Pass& pass, const Var& x, std::span<const MemoryShare> shares) const;

  AttentionSetup setup;
  int64_t read_width;
  std::string name;
  Linear query;
  JoinedLinear key_value;
  Linear output;
  std::unique_ptr<AttentionMechanism> mechanism;
};

}  // namespace attune
