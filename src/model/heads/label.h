// One label of many for each text.
#pragma once
#include "model/heads/head.h"
#include "model/heads/pooled.h"

namespace attune {

class LabelHead : public Head {
 public:
  static constexpr HeadKind kKind{
      .name = "label",
      .sentence = "one label for each text: softmax over all labels",
      .cite = "Devlin et al. 2019, section 4.1",
  };
  using Options = PooledOptions;
  LabelHead(const Options& o, const HeadSetup& setup, const Blueprint& b) : pooled_(o, setup, setup.labels, b) {}
  Var scores(const Pass& pass, const HeadInput& in) const override { return pooled_(pass, in); }
  Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const override;
  std::vector<int32_t> answers(const Pass& pass, const Tensor& scores, const Tensor& moves) const override;

 private:
  Pooled pooled_;
};

}  // namespace attune
