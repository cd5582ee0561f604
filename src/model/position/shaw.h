// Relative positions on keys and values, clipped (Shaw, Uszkoreit, Vaswani 2018, section 3).
//
//   e_ij = q_i . (k_j + a^K_ij) / sqrt(d)      z_i = sum over j of softmax(e)_ij (v_j + a^V_ij)
//   a_ij = w_clip(j - i, k),  clip(x, k) = max(-k, min(k, x))
#pragma once
#include "autograd/attention/relative.h"
#include "model/position/scheme.h"

namespace attune {

/// Tables: w^K and, unless the values are left alone, w^V, each [2k + 1, dim] with row clip(j - i, k) + k; all heads
/// share them, as published.
class ShawScores : public RelativeScores {
 public:
  explicit ShawScores(int64_t clip) : range_{-clip, clip} {}
  const DistanceRange& range() const { return range_; }

  int64_t scratch(int64_t dim) const override { return kernels::relative_scratch(dim); }
  std::array<int64_t, 2> table_rows() const override { return {range_.rows(), range_.rows()}; }
  void check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t dim) const override;
  void scores(const ScoreTile& t, const HookTables& w, float* s) const override;
  void scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                       int64_t dq_stride) const override;
  void values(const ScoreTile& t, const HookTables& w, const float* weights, float* out,
              int64_t out_stride) const override;
  void values_backward(const ScoreTile& t, const HookTables& w, const float* dout, int64_t dout_stride,
                       float* dweights) const override;
  void values_gradient(const ScoreTile& t, const HookTables& w, const float* weights, const float* dout,
                       int64_t dout_stride) const override;
  Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const override;
  Var values_reference(Ctx& ctx, const Var& weights, const ReferencePlace& place) const override;

 private:
  kernels::DistanceTable key_table(const HookTables& w) const { return {range_, w.values[0], w.gradients[0]}; }
  kernels::DistanceTable value_table(const HookTables& w) const { return {range_, w.values[1], w.gradients[1]}; }

  DistanceRange range_;
};

class ShawPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "shaw",
      .sentence = "learned vectors by distance, added to keys and values; distances beyond `clip` are one",
      .formula =
          "e_ij = q_i . (k_j + a^K_ij) / sqrt(d_k), o_i = sum_j softmax(e)_ij (v_j + a^V_ij), a_ij = w_clip(j - i, k)",
      .cite = "Shaw et al. 2018, Self-Attention with Relative Position Representations",
      .relative = Relative::scores,
      .grids = true,
      .details =
          "w^K and w^V are [2 clip + 1, d_k] in each layer, row clip(j - i) + clip; all heads share them. a^K is "
          "added before the division by sqrt(d_k). In a decoder the rows of the future are never met.",
  };
  struct Options {
    int64_t clip = 16;

    template <class V>
    void fields(V& v) {
      v("clip", clip, "the farthest distance told from others", between(1, 1 << 16));
    }
  };
  ShawPosition(const Options& o, const PositionSetup&, const Blueprint&) : clip_(o.clip) {}
  std::unique_ptr<RelativePosition> layer(const Blueprint& place, const AttentionSetup& s) const override {
    return std::make_unique<Layer>(clip_, place, s);
  }

 private:
  struct Layer : RelativePosition {
    Layer(int64_t clip, const Blueprint& place, const AttentionSetup& s)
        : scores(clip),
          key(place.table("key", scores.range().rows(), s.dim, Init::xavier(scores.range().rows(), s.dim))),
          value(place.table("value", scores.range().rows(), s.dim, Init::xavier(scores.range().rows(), s.dim))) {}
    const RelativeScores* hook() const override { return &scores; }
    std::array<Var, 2> tables(const Pass& pass, int64_t) const override { return {pass[key], pass[value]}; }

    ShawScores scores;
    int key, value;
  };
  int64_t clip_;
};

}  // namespace attune
