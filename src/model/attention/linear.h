// Linearised attention: the softmax gives way to a product of feature maps, so that sums over the keys can be kept
// instead of the keys (Katharopoulos et al. 2020, "Transformers are RNNs").
#pragma once
#include "autograd/attention/linear_attention.h"
#include "base/fields.h"
#include "model/attention/mechanism.h"

namespace attune {

class LinearizedAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "linear",
      .sentence = "sums over keys and values under a feature map, read by each query; decoding keeps sums alone",
      .formula = "phi(q_i) S_i / (phi(q_i) . z_i), S_i = sum_j phi(k_j) v_j^T, z_i = sum_j phi(k_j), phi = elu + 1",
      .cost = "n d d_k time, n d memory; a step costs d d_k, however long the text is",
      .cite = "Katharopoulos et al. 2020, Transformers are RNNs",
      .details =
          "phi(x) = x + 1 where x > 0, else exp(x), of each number of a head, not scaled by d_k. In a decoder the "
          "sums run over j <= i, elsewhere over the whole sequence, and from decoder to encoder over the source.",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  LinearizedAttention(const Options&, const AttentionSetup& setup, const Blueprint&) : setup_(setup) {}

  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  Var read(const Pass& pass, const Projected& p, std::span<const int32_t> memory_of,
           AttentionState* last) const override;
  /// phi(q_i) . phi(k_j) over its sum.
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

 private:
  kernels::LinearShape shape() const;
  void weights_of_row(const float* query, const Projected& p, int64_t segment, int64_t head, float* out) const;

  AttentionSetup setup_;
};

}  // namespace attune
