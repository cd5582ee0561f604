// Quadratic encoding (Cordonnier, Loukas, Jaggi 2020, "On the Relationship between Self-Attention and Convolutional
// Layers", section 3.1): every head looks at a place of its own relative to the query, as sharply as it has learned.
//
//   scores_ij = q_i . k_j / sqrt(d) + v . r_delta,  v = -alpha (1, -2 Delta), r_delta = (|delta|^2, delta), delta = j -
//   i
//             = q_i . k_j / sqrt(d) - alpha (|delta - Delta|^2 - |Delta|^2)
//
// With queries or keys of nought and alpha large, k x k heads are a convolution of k x k.
#pragma once
#include "model/position/scheme.h"

namespace attune {

/// Tables: Delta [heads, axes] and alpha [heads, 1].
class QuadraticScores : public RelativeScores {
 public:
  explicit QuadraticScores(int64_t axes) : axes_(axes) {}

  bool heads_apart() const override { return true; }
  void check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t dim) const override;
  void scores(const ScoreTile& t, const HookTables& w, float* s) const override;
  void scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                       int64_t dq_stride) const override;
  Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const override;

 private:
  int64_t axes_;
};

class QuadraticPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "quadratic",
      .sentence = "every head looks around a place of its own relative to the query, as sharply as it learns to",
      .formula = "q_i . k_j / sqrt(d_k) - alpha_h (|delta - Delta_h|^2 - |Delta_h|^2), delta = j - i",
      .cite = "Cordonnier et al. 2020, On the Relationship between Self-Attention and Convolutional Layers",
      .relative = Relative::scores,
      .grids = true,
      .joins_axes = true,
      .details =
          "Delta_h (a number for each axis) and alpha_h are learned in each layer. Delta begins normal with deviation "
          "`spread`, alpha as `sharpness`. Not divided by sqrt(d_k). The paper's W_q = W_k = 0 is a matter of the "
          "weights: content counts beside the place.",
  };
  struct Options {
    double spread = 1, sharpness = 0.5;
    template <class V>
    void fields(V& v) {
      v("spread", spread, "how far from the query heads begin to look", between(0.0, 1e3));
      v("sharpness", sharpness, "alpha at the begin: how fast weights fall with the distance from there",
        between(0.0, 1e3));
    }
  };
  QuadraticPosition(const Options& o, const PositionSetup& setup, const Blueprint&)
      : options_(o), axes_(std::max<int64_t>(1, std::ssize(setup.grid))) {}
  std::unique_ptr<RelativePosition> layer(const Blueprint& place, const AttentionSetup& s) const override {
    return std::make_unique<Layer>(options_, axes_, place, s);
  }

 private:
  struct Layer : RelativePosition {
    Layer(const Options& o, int64_t axes, const Blueprint& place, const AttentionSetup& s)
        : scores(axes),
          centre(place.table("centre", s.heads, axes, Init::normal(o.spread))),
          alpha(place.table("sharpness", s.heads, 1, Init::constant(o.sharpness))) {}
    const RelativeScores* hook() const override { return &scores; }
    std::array<Var, 2> tables(const Pass& pass, int64_t) const override { return {pass[centre], pass[alpha]}; }

    QuadraticScores scores;
    int centre, alpha;
  };
  Options options_;
  int64_t axes_;
};

}  // namespace attune
