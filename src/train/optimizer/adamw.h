// AdamW (Loshchilov, Hutter 2019, "Decoupled weight decay regularization", algorithm 2) as its followers use it: the
// update of Adam, and the weights decay by themselves instead of through the gradients, but for biases and norms.
#pragma once
#include "train/optimizer/adam.h"

namespace attune {

class AdamW : public Adam {
 public:
  static constexpr OptimizerKind kKind{
      .name = "adamw",
      .sentence =
          "adam, but that weight_decay spares biases and norms; set weight_decay, for without it the two are one",
      .formula =
          "p = (1 - rate weight_decay) p - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon), vectors: "
          "weight_decay = 0",
      .cite = "Loshchilov, Hutter 2019, \"Decoupled weight decay regularization\""};
  struct Options {
    bool vectors = false;
    template <class V>
    void fields(V& v) {
      v("vectors", vectors, "biases and norms decay too");
    }
  };
  AdamW(const Options& options, const TrainOptions& o, Parameters& weights) : Adam({}, o, weights) {
    for (int i = 0; i < weights.count(); ++i) {
      if (weights.offset(i) >= weights.trained()) continue;
      const bool decays = options.vectors || weights.value(i).shape.rank() > 1;
      // They lie one after another: those that are alike are done in one go.
      if (!ranges_.empty()) ranges_.back().to = weights.offset(i);
      if (ranges_.empty() || ranges_.back().decays != decays) ranges_.push_back({weights.offset(i), 0, decays});
    }
    if (!ranges_.empty()) ranges_.back().to = weights.trained();
  }

  void step(const OptimizerStep& s, const float* gradients, ThreadPool* pool) override {
    for (const Range& r : ranges_) update(r, s, gradients, pool);
  }

 private:
  std::vector<Range> ranges_;
};

}  // namespace attune
