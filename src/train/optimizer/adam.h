// Adam (Kingma, Ba 2015, "Adam: a method for stochastic optimization", algorithm 1), with the Transformer paper's
// defaults: beta2 = 0.98, epsilon = 1e-9. Weights decay apart from the gradients, all of them.
#pragma once
#include "base/aligned.h"
#include "kernels/optimizer/adam.h"
#include "train/optimizer/optimizer.h"

namespace attune {

class Adam : public Optimizer {
 public:
  static constexpr OptimizerKind kKind{
      .name = "adam",
      .sentence =
          "steps of about the rate for every weight, by means of its gradients and of their squares; two "
          "numbers to remember for each weight",
      .formula =
          "m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + "
          "epsilon) + rate weight_decay p",
      .cite = "Kingma, Ba 2015, \"Adam: a method for stochastic optimization\""};
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  Adam(const Options&, const TrainOptions& o, Parameters& weights)
      : settings_{.beta1 = o.beta1, .beta2 = o.beta2, .epsilon = o.epsilon, .decay = o.weight_decay},
        weights_(weights),
        first_(weights.changing()),
        second_(weights.changing()) {}

  void step(const OptimizerStep& s, const float* gradients, ThreadPool* pool) override {
    update({0, weights_.trained(), true}, s, gradients, pool);
  }
  std::vector<Remembered> remembered() const override {
    auto all = remembered_block(weights_, first_.data(), ".first");
    for (Remembered& r : remembered_block(weights_, second_.data(), ".second")) all.push_back(std::move(r));
    return all;
  }

 protected:
  /// A part of the flat block.
  struct Range {
    int64_t from, to;
    bool decays;
  };
  void update(const Range& r, const OptimizerStep& s, const float* gradients, ThreadPool* pool) {
    kernels::AdamStep adam = settings_;
    adam.step = s.step;
    adam.rate = s.rate;
    adam.grad_factor = s.grad_factor;
    if (!r.decays) adam.decay = 0;
    kernels::adam(
        adam,
        {weights_.data() + r.from, gradients + r.from, first_.data() + r.from, second_.data() + r.from, r.to - r.from},
        pool);
  }
  Parameters& weights() const { return weights_; }

 private:
  kernels::AdamStep settings_;
  Parameters& weights_;
  Aligned<float> first_, second_;
};

}  // namespace attune
