// Attention to a band of near positions, with gaps between them where it is dilated (the band and dilated atoms of Lin
// et al. 2021, "A Survey of Transformers"; Longformer's sliding window, Beltagy et al. 2020).
#pragma once
#include "base/fields.h"
#include "model/attention/dot_product.h"
#include "model/attention/rearranged.h"

namespace attune {

class BandAttention : public AttentionMechanism {
 public:
  static constexpr AttentionKind kKind{
      .name = "band",
      .sentence = "softmax over near positions: the last `width` in a decoder, width / 2 to each side elsewhere",
      .formula = "softmax over j of (q_i . k_j / sqrt(d_k)) v_j with |i - j| in {0, g, 2 g, ...}, w of them",
      .cost = "n w d time, n d memory; decoding keeps the last w g positions",
      .cite = "Beltagy et al. 2020, Longformer: The Long-Document Transformer",
      .cross = false,
      .relative = Relative::scores,
      .survey = {.sequences = "one", .positions = "local"},
      .details =
          "In a decoder position i sees i, i - g, ..., i - (w - 1) g. Elsewhere it sees floor(w / 2) positions to "
          "each side and itself: an even w gives w + 1 of them, an odd one w. Positions before the begin or after "
          "the end are not there, and the softmax is over those that are. With gaps a sequence falls apart into g "
          "of every g-th position, and each has the band without gaps.",
      .drawn = "width=9",
  };
  struct Options {
    int64_t width = 64, dilation = 1;

    template <class V>
    void fields(V& v) {
      v("width", width, "positions each one sees", between(1, 1 << 20));
      v("dilation", dilation, "every so many positions; 1: no gaps", between(1, 1 << 20));
    }
  };
  BandAttention(const Options& options, const AttentionSetup& setup, const Blueprint&);

  Var mix(const Pass& pass, const Projected& p) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var step(const Pass& pass, const Projected& p, AttentionState& state) const override;
  bool weights(const Pass& pass, const Projected& p, float* out) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

 private:
  Rearrangement apart(const Pass& pass, const Projected& p) const;

  AttentionSetup setup_;
  int64_t width_, dilation_;
  Mask mask_;
};

}  // namespace attune
