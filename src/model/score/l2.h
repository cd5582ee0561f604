// The distance of query and key: with it attention is Lipschitz continuous (Kim, Papamakarios and Mnih 2021).
#pragma once
#include <cmath>

#include "model/score/score.h"

namespace attune {

class L2Score : public Score {
 public:
  static constexpr ScoreDescription kKind{
      .name = "l2",
      .sentence = "minus the squared distance, over the root of the width",
      .formula = "-|q - k|^2 / sqrt(d_k)",
      .cite = "Kim et al. 2021, The Lipschitz Constant of Self-Attention",
  };
  L2Score(const AttentionSetup& s, const Blueprint&) : scale_(1 / std::sqrt(static_cast<float>(s.dim))) {}
  ScoreKind rule() const override { return ScoreKind::l2; }
  float scale() const override { return scale_; }

 private:
  float scale_;
};

}  // namespace attune
