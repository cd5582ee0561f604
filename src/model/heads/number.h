// A number for each text: regression. An answer is the bits of a float.
#pragma once
#include "model/heads/head.h"
#include "model/heads/pooled.h"

namespace attune {

class NumberHead : public Head {
 public:
  static constexpr HeadKind kKind{
      .name = "number",
      .sentence = "a number for each text, by least squares",
      .cite = "Tai et al. 2015, Improved Semantic Representations From Tree-Structured Long Short-Term Memory Networks",
  };
  using Options = PooledOptions;
  NumberHead(const Options& o, const HeadSetup& setup, const Blueprint& b) : pooled_(o, setup, 1, b) {}
  Var scores(const Pass& pass, const HeadInput& in) const override { return pooled_(pass, in); }
  Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const override;
  std::vector<int32_t> answers(const Pass& pass, const Tensor& scores, const Tensor& moves) const override;

 private:
  Pooled pooled_;
};

}  // namespace attune
