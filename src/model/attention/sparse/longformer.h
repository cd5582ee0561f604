// Longformer (Beltagy et al. 2020, "Longformer: The Long-Document Transformer"): a sliding window, dilated in higher
// layers, and a few global positions that have projections of their own.
#pragma once
#include "model/attention/sparse/sparse.h"
#include "model/layers/linear.h"

namespace attune {

class LongformerAttention : public SparseAttention {
 public:
  static constexpr AttentionKind kKind{
      .name = "longformer",
      .sentence = "a sliding window, and global positions at the begin with queries, keys and values of their own",
      .formula =
          "sparse with atoms = [{ band = window, gap = dilation }, { seen = global }], row i < g: softmax "
          "over j of (q^g_i . k^g_j / sqrt(d_k)) v^g_j",
      .cost = "n (w + g) d time, n d memory; decoding keeps the window and the global positions",
      .cite = "Beltagy et al. 2020, Longformer: The Long-Document Transformer, section 3.1",
      .cross = false,
      .relative = Relative::turned,
      .survey = {.sequences = "one", .positions = "local and global"},
      .details =
          "All rows see the first g with the layer's own q, k and v. The first g rows see all rows (in a decoder those "
          "up to themselves) with q^g, k^g, v^g = x W^g + b^g, matrices of their own that begin as random as the "
          "others, and none of the layer's own pairs. The window is that of `band`. Dilation is chosen layer by "
          "layer: encoder_attention = [\"longformer\", { kind = \"longformer\", dilation = 2 }]. Positions are those "
          "that turn or are added; q^g and k^g are turned alike.",
      .drawn = "window=9;global=2",
  };
  struct Options {
    int64_t window = 512, dilation = 1, global = 1;
    template <class V>
    void fields(V& v) {
      v("window", window, "near positions that each one sees", between(1, 1 << 20));
      v("dilation", dilation, "every so many of them; 1: no gaps", between(1, 1 << 20));
      v("global", global, "positions at the begin that see all and are seen by all", between(1, 1 << 16));
    }
    std::string atoms() const { return fmt::format("band {} gap {}, seen {}", window, dilation, global); }
  };
  LongformerAttention(const Options& o, const AttentionSetup& setup, const Blueprint& b);

  LayerParts parts() const override { return {.projections = false}; }
  Var attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& segments,
             Carried& carried) const override;
  std::unique_ptr<AttentionState> state(int64_t rows) const override;
  Var attend_step(const Pass& pass, const SelfAttention& layer, const Var& x, const RowPositions& where,
                  AttentionState& state) const override;
  double operations(const Parameters&, const Segments& queries, const Segments& keys) const override;

 private:
  struct First;
  struct State;
  void look(const Pass& pass, const Projected& near, const Projected& global, float* out) const;

  int64_t global_;
  Mask mask_;  // of the global rows
  JoinedLinear near_, query_, key_value_;
  Linear output_;
};

}  // namespace attune
