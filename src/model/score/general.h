// The bilinear score, "general" (Luong et al. 2015, equation 8): a matrix between query and key, one for each head.
#pragma once
#include "autograd/attention/heads.h"
#include "model/score/score.h"

namespace attune {

class GeneralScore : public Score {
 public:
  static constexpr ScoreDescription kKind{
      .name = "general",
      .sentence = "bilinear: a learned matrix of each head stands between query and key",
      .formula = "q^T W k",
      .cite = "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine Translation",
  };
  GeneralScore(const AttentionSetup& s, const Blueprint& place)
      : heads_(s.heads), weight_(place.table("score.weight", s.width(), s.dim, Init::xavier(s.dim, s.dim, 0.5))) {}
  Heads queries(const Pass& pass, const Heads& q) const override {
    return {multiply_heads(pass.ctx, q.x, q.column, heads_, pass[weight_]), 0};
  }

 private:
  int64_t heads_;
  int weight_;
};

}  // namespace attune
