// Stochastic gradient descent with momentum (Polyak 1964), or with Nesterov's after Sutskever et al. 2013 ("On the
// importance of initialization and momentum in deep learning"), with the rate outside the velocity, so that a change of
// the rate acts at once. Weights decay apart from the gradients (Loshchilov,
// Hutter 2019, algorithm 1).
#pragma once
#include "base/aligned.h"
#include "kernels/optimizer/sgd.h"
#include "train/optimizer/optimizer.h"

namespace attune {

class Sgd : public Optimizer {
 public:
  static constexpr OptimizerKind kKind{
      .name = "sgd",
      .sentence = "steps along the gradient, with momentum; one number to remember for each weight, or none",
      .formula = "v = momentum v + g, p -= rate v + rate weight_decay p; nesterov: p -= rate (g + momentum v) + ...",
      .cite =
          "Polyak 1964; Sutskever et al. 2013, \"On the importance of initialization and momentum in deep "
          "learning\""};
  struct Options {
    double momentum = 0.9;
    bool nesterov = false;
    template <class V>
    void fields(V& v) {
      v("momentum", momentum, "share of the step before that goes on; 0: nothing is remembered", from_below(0, 1));
      v("nesterov", nesterov, "look ahead: the gradient's share comes after the momentum's");
    }
  };
  Sgd(const Options& options, const TrainOptions& o, Parameters& weights)
      : settings_{.momentum = options.momentum, .decay = o.weight_decay, .nesterov = options.nesterov},
        weights_(weights),
        velocity_(options.momentum > 0 ? weights.changing() : 0) {}

  void step(const OptimizerStep& s, const float* gradients, ThreadPool* pool) override {
    kernels::SgdStep sgd = settings_;
    sgd.rate = s.rate;
    sgd.grad_factor = s.grad_factor;
    kernels::sgd(sgd, {weights_.data(), gradients, velocity(), weights_.trained()}, pool);
  }
  std::vector<Remembered> remembered() const override {
    return velocity() ? remembered_block(weights_, velocity(), ".velocity") : std::vector<Remembered>{};
  }

 private:
  float* velocity() const { return velocity_.size() > 0 ? velocity_.data() : nullptr; }

  kernels::SgdStep settings_;
  Parameters& weights_;
  Aligned<float> velocity_;
};

}  // namespace attune
