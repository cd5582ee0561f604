// Dot products, plain (Luong et al. 2015) and scaled so that their variance does not grow with d_k (Vaswani et al.
// 2017, section 3.2.1).
#pragma once
#include <cmath>

#include "model/score/score.h"

namespace attune {

class DotScore : public Score {
 public:
  static constexpr ScoreDescription kKind{
      .name = "dot",
      .sentence = "the dot product",
      .formula = "q . k",
      .cite = "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine Translation",
  };
  DotScore(const AttentionSetup&, const Blueprint&) {}
};

class ScaledDotScore : public Score {
 public:
  static constexpr ScoreDescription kKind{
      .name = "scaled-dot",
      .sentence = "the dot product over the root of its width, as published",
      .formula = "q . k / sqrt(d_k)",
      .cite = "Vaswani et al. 2017, Attention Is All You Need",
  };
  ScaledDotScore(const AttentionSetup& s, const Blueprint&) : scale_(1 / std::sqrt(static_cast<float>(s.dim))) {}
  float scale() const override { return scale_; }

 private:
  float scale_;
};

}  // namespace attune
