// Additive scores: a layer of tanh instead of a product (Bahdanau et al. 2014), and the same with a vector of learned
// length (weight normalisation, Salimans and Kingma 2016). W_q and W_k are the projections of the attention layer.
#pragma once
#include <cmath>

#include "autograd/attention/heads.h"
#include "model/score/score.h"

namespace attune {

class AdditiveScore : public Score {
 public:
  static constexpr ScoreDescription kKind{
      .name = "additive",
      .sentence = "a small network: slower, and easier to train where queries and keys are of different kinds",
      .formula = "v^T tanh(W_q q + W_k k)",
      .cite = "Bahdanau et al. 2014, Neural Machine Translation by Jointly Learning to Align and Translate",
  };
  AdditiveScore(const AttentionSetup& s, const Blueprint& place)
      : vector_(place.vector("score.vector", s.width(), Init::xavier(s.dim, 1))) {}
  ScoreKind rule() const override { return ScoreKind::additive; }
  Var vector(const Pass& pass) const override { return pass[vector_]; }

 private:
  int vector_;
};

class NormedAdditiveScore : public Score {
 public:
  static constexpr ScoreDescription kKind{
      .name = "normed-additive",
      .sentence = "additive with a vector of learned length, and a bias",
      .formula = "g (v / |v|)^T tanh(W_q q + W_k k + b)",
      .cite = "Salimans and Kingma 2016, Weight Normalization",
  };
  NormedAdditiveScore(const AttentionSetup& s, const Blueprint& place)
      : heads_(s.heads),
        dim_(s.dim),
        vector_(place.table("score.vector", 1, s.width(), Init::xavier(s.dim, 1))),
        gain_(place.vector("score.gain", s.heads, Init::constant(1 / std::sqrt(static_cast<double>(s.dim))))),
        bias_(place.vector("score.bias", s.width(), Init::zeros())) {}
  ScoreKind rule() const override { return ScoreKind::additive; }
  Var vector(const Pass& pass) const override {
    return normalize_heads(pass.ctx, pass[vector_], 0, heads_, dim_, pass[gain_]);
  }
  Var bias(const Pass& pass) const override { return pass[bias_]; }

 private:
  int64_t heads_, dim_;
  int vector_, gain_, bias_;
};

}  // namespace attune
