// Persistent memory: learned keys and values beside the context, which take the place of the feed-forward layer
// (Sukhbaatar et al. 2019, "Augmenting Self-attention with Persistent Memory").
#pragma once
#include "base/fields.h"
#include "model/attention/dot_product.h"

namespace attune {

class PersistentAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "persistent",
      .sentence = "softmax over the context and learned vectors alike; the layer has no feed-forward part",
      .formula = "softmax(Q [K; M_k]^T / sqrt(d_k)) [V; M_v]",
      .cost = "n (n + N) d time, n d memory",
      .cite = "Sukhbaatar et al. 2019, Augmenting Self-attention with Persistent Memory",
      .cross = false,
      .relative = Relative::turned,
      .survey = {.sequences = "one"},
      .details =
          "M_k = sqrt(d_k) times a learned [N, d] that begins normal with deviation 1 / sqrt(d_k), M_v = sqrt(N) "
          "times one with deviation 1 / sqrt(N); each head has its columns, all positions share them, and one "
          "softmax goes over the context's keys and these. Position schemes and masks leave the memory alone. "
          "Weights that are shown are those of the context; what they lack to 1 went to the memory.",
  };
  struct Options {
    int64_t size = 128;
    bool feed_forward = false;

    template <class V>
    void fields(V& v) {
      v("size", size, "learned keys and values of each head", between(1, 1 << 16));
      v("feed_forward", feed_forward, "keep the feed-forward layer, which the memory is meant to replace");
    }
  };
  PersistentAttention(const Options& options, const AttentionSetup& setup, const Blueprint& place);

  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  /// Those of the context; what is missing to 1 went to the memory.
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;
  LayerParts parts() const override { return {.feed_forward = feed_forward_}; }

 private:
  struct Memory {
    Var key, value;  // [N, heads_kv * dim]
  };
  Memory learned(const Pass& pass) const;

  AttentionSetup setup_;
  Mask mask_;
  int64_t size_;
  bool feed_forward_;
  int key_, value_;
  uint64_t site_;
};

}  // namespace attune
