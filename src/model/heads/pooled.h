// A text as one vector, and a linear layer on it: what heads for whole texts have in common.
#pragma once
#include "model/heads/head.h"
#include "model/layers/linear.h"
#include "model/pooling/pooling.h"

namespace attune {

struct Pooled {
  Pooled(const HeadSetup& setup, int64_t out, const Blueprint& b);
  /// The vectors, [texts, width].
  Var vectors(const Pass& pass, const HeadInput& in) const;
  /// [texts, out]
  Var operator()(const Pass& pass, const HeadInput& in) const { return output(pass, vectors(pass, in)); }

  std::unique_ptr<Pooling> pooling;
  Linear output;
  float rate;
  uint64_t site;
};

}  // namespace attune
