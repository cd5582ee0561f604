// Relative positions of Transformer-XL: sinusoids of the distance under a projection of their own, and two biases
// instead of the query's position (Dai et al. 2019, section 3.3).
//
//   A_ij = (q_i + u) . k_j + (q_i + v) . W_R R_(i - j),  scores are A / sqrt(d)
//
// Queries come to attention as q' = q + u (an addition outside); the hook adds (q' + (v - u)) . W_R R_(i - j).
#pragma once
#include <algorithm>
#include <vector>

#include "autograd/attention/relative.h"
#include "model/position/growing_rows.h"
#include "model/position/scheme.h"

namespace attune {

/// Tables: W_R R [distances, heads * dim], by a product outside with the constants that fill_distance_sinusoids makes,
/// row 0 the farthest past; and v - u [1, heads * dim]. Where no distance at hand is as large as the range, the table
/// ends at the largest there is, on both sides.
class TransformerXlScores : public RelativeScores {
 public:
  explicit TransformerXlScores(const DistanceRange& range) : range_(range) {}
  const DistanceRange& range() const { return range_; }
  /// The distances up to `farthest`, and those that a table of so many rows tells.
  DistanceRange within(int64_t farthest) const {
    return {std::max(range_.low, -farthest), std::min(range_.high, farthest)};
  }
  DistanceRange of_rows(int64_t rows) const {
    return rows == range_.rows() ? range_ : within(range_.low < 0 ? (rows - 1) / 2 : rows - 1);
  }

  int64_t scratch(int64_t dim) const override;
  bool heads_apart() const override { return true; }
  void check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t dim) const override;
  void scores(const ScoreTile& t, const HookTables& w, float* s) const override;
  void scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                       int64_t dq_stride) const override;
  Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const override;

 private:
  DistanceRange range_;
};

/// R: row range.row(distance) = [sin(distance w_0), sin(distance w_1), .. | cos(distance w_0), ..] with w_i =
/// 10000^(-2i / d), sines first as in the authors' code. `table` is [range.rows(), d], f32 or f64.
void fill_distance_sinusoids(const Tensor& table, const DistanceRange& range);

class TransformerXlPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "transformer-xl",
      .sentence =
          "sinusoids of the distance under a learned projection, and two biases in place of the query's position",
      .formula = "((q_i + u) . k_j + (q_i + v) . W_R R_(i - j)) / sqrt(d_k)",
      .cite = "Dai et al. 2019, Transformer-XL",
      .relative = Relative::scores,
      .details =
          "R_t = [sin(t w_0), sin(t w_1), ... | cos(t w_0), ...], w_l = 10000^(-2l / d): all sines, then all "
          "cosines. W_R is [d, d] without a bias in each layer; u and v, [d], are shared by all layers of a stack. "
          "Distances i - j count up to 2 (data.max_length + 1) - 1, and those of what is remembered more; what is "
          "farther counts as the farthest. Elsewhere than in a decoder they go to both sides.",
  };
  struct Options {
    int64_t longest = 0;

    template <class V>
    void fields(V& v) {
      v("longest", longest, "distances told apart; 0: twice data.max_length", between(0, 1 << 16));
    }
  };
  TransformerXlPosition(const Options& o, const PositionSetup& setup, const Blueprint&)
      : longest_(o.longest > 0 ? o.longest : 2 * setup.longest) {}
  std::unique_ptr<RelativePosition> layer(const Blueprint& place, const AttentionSetup& s) const override {
    return std::make_unique<Layer>(longest_, place, s);
  }

 private:
  /// u and v are shared by all layers, as in the authors' code.
  struct Layer : RelativePosition {
    Layer(int64_t longest, const Blueprint& place, const AttentionSetup& s);
    Projected turn(const Pass& pass, const Projected& p, const RowPositions&, const RowPositions&) const override;
    void extend(int64_t positions) override;
    const RelativeScores* hook() const override { return &scores; }
    std::array<Var, 2> tables(const Pass& pass, int64_t farthest) const override;

    int64_t width;
    TransformerXlScores scores;
    int weight, u, v;
    mutable GrowingRows sinusoids;  // R of the distances -n .. n, of which a range has the middle
  };
  int64_t longest_;
};

}  // namespace attune
