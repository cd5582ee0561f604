// Recurrence from window to window: keys and values come from the rows of the window at hand and from those that the
// layer remembers of the windows before, into which no gradient flows (Dai et al. 2019, "Transformer-XL", section 3.2).
//
//   H = [SG(m); h]    q, k, v = h W_q^T, H W_k^T, H W_v^T    o = softmax(q k^T / sqrt(d_k)) v
//
// The memory m is the last rows that came into this layer, kept per stream of the text from update to update
// (model/stream_memory.h). Sentences that stand alone have none: there it is softmax attention. Positions should be
// relative: added to the embeddings, they would say of remembered rows that they stand in the window at hand.
#pragma once
#include "base/fields.h"
#include "model/attention/dot_product.h"
#include "model/layers/linear.h"

namespace attune {

class TransformerXlAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "transformer-xl",
      .sentence = "softmax over the window and over what the layer remembers of the text before it",
      .formula = "softmax(q k^T / sqrt(d_k)) v, q = h W_q^T, (k, v) = [SG(m); h] (W_k^T, W_v^T)",
      .cost = "n (n + m) d time, (n + m) d memory",
      .cite = "Dai et al. 2019, Transformer-XL",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one, and the one before it"},
      .details =
          "The sublayer's input rows of the stream's last `memory` positions, as they entered this layer, without "
          "gradient, stand before the segment's: keys and values are projected of both, queries of the segment "
          "alone. Memories outlast an update where a text is read on and on (data.stream), and are forgotten where "
          "a text begins.",
  };
  struct Options {
    int64_t memory = 256;

    template <class V>
    void fields(V& v) {
      v("memory", memory, "rows that each layer remembers of the windows before", between(1, 1 << 16));
    }
  };
  TransformerXlAttention(const Options& options, const AttentionSetup& setup, const Blueprint& place);

  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

  LayerParts parts() const override { return {.projections = false}; }
  int64_t memory() const override { return memory_; }
  Var attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& windows,
             Carried& carried) const override;
  Var attend_step(const Pass& pass, const SelfAttention& layer, const Var& x, const RowPositions& where,
                  AttentionState& state) const override;

 private:
  Projected project(const Pass& pass, const Var& x, const Var& all) const;

  AttentionSetup setup_;
  Mask mask_;
  int64_t memory_;
  JoinedLinear query_, key_value_;
  Linear output_;
  int slot_;
};

}  // namespace attune
