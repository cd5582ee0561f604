// The angle between query and key alone, times a learned gain of each head: no score can exceed it.
#pragma once
#include <cmath>

#include "autograd/attention/heads.h"
#include "model/score/score.h"

namespace attune {

class CosineScore : public Score {
 public:
  static constexpr ScoreDescription kKind{
      .name = "cosine",
      .sentence = "the cosine of the angle between query and key, times a learned number",
      .formula = "g q . k / (|q| |k|)",
      .cite = "Henry et al. 2020, Query-Key Normalization for Transformers",
  };
  CosineScore(const AttentionSetup& s, const Blueprint& place)
      : heads_(s.heads),
        heads_kv_(s.heads_kv),
        dim_(s.dim),
        gain_(place.vector("score.gain", s.heads, Init::constant(std::sqrt(static_cast<double>(s.dim))))) {}
  Heads queries(const Pass& pass, const Heads& q) const override {
    return {normalize_heads(pass.ctx, q.x, q.column, heads_, dim_, pass[gain_]), 0};
  }
  Heads keys(const Pass& pass, const Heads& k) const override {
    return {normalize_heads(pass.ctx, k.x, k.column, heads_kv_, dim_), 0};
  }

 private:
  int64_t heads_, heads_kv_, dim_;
  int gain_;
};

}  // namespace attune
