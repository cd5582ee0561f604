// Relative positions of Transformer-XL: sinusoids of the distance under a projection of their own, and two biases
// instead of the query's position (Dai et al. 2019, section 3.3).
//
//   A_ij = (q_i + u) . k_j + (q_i + v) . W_R R_(i - j),  scores are A / sqrt(d)
//
// Queries come to attention as q' = q + u (an addition outside); the hook adds (q' + (v - u)) . W_R R_(i - j).
#pragma once
#include "autograd/relative.h"

namespace attune {

/// Tables: W_R R [distances, heads * dim], by a product outside with the constants that fill_distance_sinusoids makes,
/// row 0 the farthest past; and v - u [1, heads * dim].
class TransformerXlScores : public RelativeScores {
 public:
  explicit TransformerXlScores(const DistanceRange& range) : range_(range) {}
  const DistanceRange& range() const { return range_; }

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

}  // namespace attune
