// Attention with linear biases: the farther, the less, at a rate of each head's own; nothing is learned (Press, Smith,
// Lewis 2022, "Train Short, Test Long").
//
//   scores_ij = q_i . k_j / sqrt(d) - slope_head |i - j|
//
// The bias is not scaled by 1 / sqrt(d). Encoders have the same to both sides.
#pragma once
#include <vector>

#include "autograd/attention/relative.h"
#include "model/position/scheme.h"

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

class AlibiPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "alibi",
      .sentence =
          "the farther, the lower the score, at a fixed rate of each head's own; reads on past what it was trained on",
      .formula = "q_i . k_j / sqrt(d_k) - slope_h |i - j|, slope_h = 2^(-8 h / heads)",
      .cite = "Press et al. 2022, Train Short, Test Long",
      .relative = Relative::scores,
      .grids = true,
      .details =
          "Encoders have it to both sides. Where the number of heads is no power of two: the slopes of the power "
          "below it, then every second one of the power above.",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  AlibiPosition(const Options&, const PositionSetup&, const Blueprint&) {}
  std::unique_ptr<RelativePosition> layer(const Blueprint&, const AttentionSetup& s) const override {
    return std::make_unique<Layer>(s.heads);
  }

 private:
  struct Layer : RelativePosition {
    explicit Layer(int64_t heads) : scores(heads) {}
    const RelativeScores* hook() const override { return &scores; }

    AlibiScores scores;
  };
};

}  // namespace attune
