// A vector for each row: frames of sound, values of series, colours of pixels. What is right are the values of the rows
// that are wanted.
#pragma once
#include "autograd/losses/label_loss.h"
#include "model/heads/head.h"
#include "model/layers/linear.h"

namespace attune {

class VectorsHead : public Head {
 public:
  static constexpr HeadKind kKind{
      .name = "vectors",
      .sentence = "a vector for each row, by absolute or squared distance",
      .cite = "Wang et al. 2017, Tacotron: Towards End-to-End Speech Synthesis, section 3.4",
  };
  struct Options {
    Distance loss = Distance::squared;
    template <class V>
    void fields(V& v) {
      v("loss", loss, "what a distance costs: itself, or its square", one_of({"l1", "l2"}));
    }
  };
  VectorsHead(const Options& o, const HeadSetup& setup, const Blueprint& b)
      : distance_(o.loss), output_(b, setup.width > 0 ? setup.width : 1, setup.d_model) {}
  Var scores(const Pass& pass, const HeadInput& in) const override { return output_(pass, in.x); }
  Var loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const override;
  Segments most_answers(const Segments& texts) const override { return texts; }
  /// The bits of the numbers, row by row.
  std::vector<int32_t> answers(const Pass& pass, const Tensor& scores, const Tensor& moves) const override;

 private:
  Distance distance_;
  Linear output_;
};

}  // namespace attune
