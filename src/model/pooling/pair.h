// Two texts compared word by word: each row looks for what the other text has of its kind, what it found is set beside
// it, and both texts sum up what came of that.
#pragma once
#include "model/layers/linear.h"
#include "model/pooling/pooling.h"

namespace attune {

class PairPooling : public Pooling {
 public:
  static constexpr PoolingKind kKind{
      .name = "pair",
      .sentence = "for two texts: each word is compared with what it finds in the other text",
      .formula =
          "y_i = softmax(x_i X'^T / sqrt(d)) X';  sum_i relu(W [x_i, y_i, |x_i - y_i|, x_i y_i]) / sqrt(n) of both",
      .cite = "Parikh et al. 2016, A Decomposable Attention Model for Natural Language Inference",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  PairPooling(const Options&, int64_t d_model, const Blueprint& b)
      : d_model_(d_model), compare_(b.at("compare"), d_model, 4 * d_model) {}
  Var operator()(const Pass& pass, const Encoded& in) const override;
  int64_t width() const override { return 2 * d_model_; }

 private:
  int64_t d_model_;
  Linear compare_;
};

}  // namespace attune
