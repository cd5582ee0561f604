// Attention as published: every query weighs every key (Vaswani et al. 2017, section 3.2.1). How well a key fits and
// how scores become weights can be chosen: model/score.
#pragma once
#include "autograd/attention/score_attention.h"
#include "base/fields.h"
#include "model/attention/dot_product.h"
#include "model/score/score.h"

namespace attune {

class SoftmaxAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "softmax",
      .sentence = "scaled dot-product attention, as published; other scores and normalisers by its options",
      .formula = "softmax(Q K^T / sqrt(d_k)) V",
      .cost = "n^2 d time, n d memory",
      .cite = "Vaswani et al. 2017, Attention Is All You Need",
      .relative = Relative::scores,
      .details =
          "Queries, keys and values are x W^T + b of the layer's input, three matrices [d, d] of which head h has "
          "the columns h d_k to (h + 1) d_k; with heads_kv fewer, heads h g to (h + 1) g share the h-th of keys and "
          "values. The heads' results, side by side, go through an output W^T + b. Dropout falls on the weights "
          "after the softmax, kept ones divided by 1 - rate. top-k leaves the k largest scores, of equal ones the "
          "first. shared = true: W^Q = W^K and b^Q = b^K (Kitaev et al. 2020, Reformer, section 2), so that scores "
          "are symmetric but for positions.",
  };
  struct Options {
    std::string score = "scaled-dot", normalizer = "softmax";
    int64_t k = 8;
    bool shared = false;

    template <class V>
    void fields(V& v) {
      v("score", score, "how well a key fits a query; see `attune info scores`");
      v("normalizer", normalizer, "how scores become weights: softmax, top-k, sparsemax, entmax15");
      v("k", k, "keys that top-k leaves", between(1, 1 << 20));
      v("shared", shared, "queries are keys, too: one matrix makes both (self-attention)");
    }
  };
  SoftmaxAttention(const Options& options, const AttentionSetup& setup, const Blueprint& place);

  LayerParts parts() const override { return {.key = !shared_}; }
  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  void prefill(const Pass& pass, const Projected& p, AttentionState& state) const override;
  Var read(const Pass& pass, const Projected& p, std::span<const int32_t> memory_of,
           AttentionState* last) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  Var guide(const Pass& pass, const Projected& p, const Guide& guide) const override;
  bool can_be_guided() const override { return fused(); }
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

 private:
  /// Whether it is a softmax of dot products of something: those are one fused operation.
  bool fused() const { return score_->rule() == ScoreKind::dot && normalizer_.kind == NormaliserKind::softmax; }
  Projected scored(const Pass& pass, const Projected& p) const;
  StepRule rule(const Pass& pass) const;
  Mask mask_of(const Pass& pass) const {
    return pass.prefix() && setup_.causal ? Mask::past_with_prefix(pass.prefix()) : mask_;
  }

  AttentionSetup setup_;
  Mask mask_;
  std::unique_ptr<Score> score_;
  Normaliser normalizer_;
  bool shared_;
};

}  // namespace attune
