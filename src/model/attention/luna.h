// Luna: a short second stream packs the sequence and is unpacked by it, so that no two long sides ever meet (Ma et al.
// 2021, "Luna: Linear Unified Nested Attention").
//
// In an encoder the stream P runs beside X from layer to layer:
//
//   Y_P = Attention(P, X, X)    Y_X = Attention(X, Y_P, Y_P)    P' = LayerNorm(Y_P + P)
//
// In a decoder P can't hold what is yet to come: every layer packs with the learned P itself, by running means f
// (section 3.4): A = omega(P K^T), U = softmax(f(Q, K, A^T)), Y_X = f(U, A^T, V) with f(x, y, z)_t = x_t (sum_{j <= t}
// y_j^T z_j) / t.
#pragma once
#include <optional>

#include "base/fields.h"
#include "model/attention/mechanism.h"
#include "model/layers/linear.h"
#include "model/layers/residual.h"

namespace attune {

class LunaAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "luna",
      .sentence = "packs the sequence into a short learned one and unpacks it; that one runs from layer to layer",
      .formula = "Y_P = Attention(P, X, X), Y_X = Attention(X, Y_P, Y_P)",
      .cost = "n l d time, n d memory; a step costs l d, however long the text is",
      .cite = "Ma et al. 2021, Luna: Linear Unified Nested Attention",
      .cross = false,
      .survey = {.sequences = "one, through a second", .levels = "two"},
      .details =
          "Encoder: P is learned, [length, d], one for the whole stack, and runs beside X: Y_P has query W + b of P "
          "and keys and values of X, each of its own matrices; Y_X has queries of X, keys and values of Y_P; P' = "
          "LayerNorm(Y_P + P), its norm at the begin of the next layer's use. Both are multi-head softmax with 1 / "
          "sqrt(d_k). Decoder (section 3.4): every layer packs with the learned P. A = elu(P_q K^T / sqrt(d_k)) + "
          "1, running means over time f(x, y, z)_t = x_t (sum over j <= t of y_j^T z_j) / t, U = softmax(f(Q / "
          "sqrt(d_k), K, A^T)) over the rows of P, Y = f(U, A^T, V).",
  };
  struct Options {
    int64_t length = 16;

    template <class V>
    void fields(V& v) {
      v("length", length, "rows of the second stream", between(1, 1 << 16));
    }
  };
  LunaAttention(const Options& options, const AttentionSetup& setup, const Blueprint& place);

  Var mix(const Pass& pass, const Projected& p) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;
  LayerParts parts() const override { return {.projections = false}; }
  Var attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& segments,
             Carried& carried) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var attend_step(const Pass& pass, const SelfAttention& layer, const Var& x, const RowPositions& where,
                  AttentionState& state) const override;

 private:
  struct Causal {
    Var q, k, v;  // [n, width]
    Var packing;  // A^T, [n, heads * length]
  };
  Causal causal(const Pass& pass, const Var& x) const;
  void weights_through(const Pass& pass, const Projected& pack, const Projected& unpack, float* out) const;
  Var unpacking(const Pass& pass, const Var& scores) const;
  Var attend_past(const Pass& pass, const Var& x, const Segments& segments) const;

  AttentionSetup setup_;
  int64_t length_;
  int memory_;  // P, [length, d_model]
  std::optional<Linear> pack_query_, query_;
  std::optional<JoinedLinear> pack_key_value_, key_value_;
  std::optional<Linear> output_;
  std::optional<LayerNorm> norm_;
};

}  // namespace attune
