// A text as one vector, and a linear layer on it: what heads for whole texts have in common. Where rows are scores
// already, the layer is a bias.
#pragma once
#include "model/heads/head.h"
#include "model/pooling/pooling.h"

namespace attune {

struct Pooled {
  Pooled(const HeadSetup& setup, int64_t out, const Blueprint& b);
  /// The vectors, [texts, width].
  Var vectors(const Pass& pass, const HeadInput& in) const;
  /// [texts, out]
  Var operator()(const Pass& pass, const HeadInput& in) const;
  /// What the vectors are multiplied by, [out, width].
  Var weight(const Pass& pass) const;
  Var bias(const Pass& pass) const { return pass[bias_]; }

  std::unique_ptr<Pooling> pooling;
  int64_t out;
  int weight_ = -1, bias_;  // no weight: vectors are scores already
  float rate;
  uint64_t site;
};

}  // namespace attune
