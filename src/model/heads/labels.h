// Any number of labels for each text.
#pragma once
#include "model/heads/head.h"
#include "model/heads/pooled.h"

namespace attune {

class LabelsHead : public Head {
 public:
  static constexpr HeadKind kKind{
      .name = "labels",
      .sentence = "any number of labels for each text: yes or no for each of them",
      .cite = "Nam et al. 2014, Large-scale Multi-label Text Classification",
  };
  struct Options : PooledOptions {
    double threshold = 0.5;
    template <class V>
    void fields(V& v) {
      PooledOptions::fields(v);
      v("threshold", threshold, "the least probability of a label that is given", between(0, 1));
    }
  };
  LabelsHead(const Options& o, const HeadSetup& setup, const Blueprint& b)
      : threshold_(o.threshold), pooled_(o, setup, setup.labels, b) {}
  Var scores(const Pass& pass, const HeadInput& in) const override { return pooled_(pass, in); }
  Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const override;
  bool counts_texts() const override { return true; }
  std::vector<int32_t> answers(const Pass& pass, const Tensor& scores, const Tensor& moves) const override;

 private:
  double threshold_;
  Pooled pooled_;
};

}  // namespace attune
