// Attention with linear biases: the farther, the less, at a rate of each head's own; nothing is learned (Press, Smith,
// Lewis 2022, "Train Short, Test Long").
//
//   scores_ij = q_i . k_j / sqrt(d) - slope_head |i - j|
//
// The bias is not scaled by 1 / sqrt(d). Encoders have the same to both sides.
#pragma once
#include <vector>

#include "autograd/relative.h"

namespace attune {

/// 2^(-8 h / heads) for h = 1 .. heads. Where `heads` is no power of two, as the authors' code has it: those of the
/// power below it, then every second one of the power above.
std::vector<double> alibi_slopes(int64_t heads);

class AlibiScores : public RelativeScores {
 public:
  explicit AlibiScores(int64_t heads) : slopes_(alibi_slopes(heads)) {}

  int64_t scratch(int64_t) const override { return kernels::kPieceDistances; }
  bool heads_apart() const override { return true; }
  void check_tables(const std::array<Var, 2>& tables, int64_t heads, int64_t dim) const override;
  void scores(const ScoreTile& t, const HookTables&, float* s) const override;
  void scores_backward(const ScoreTile&, const HookTables&, const float*, float*, int64_t) const override {}
  Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const override;

 private:
  std::vector<double> slopes_;  // by head
};

}  // namespace attune
