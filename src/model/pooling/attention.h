// Attention with learned queries. One hop without an inner layer is a query that is the same for every text; several
// with one are the structured self-attention of Lin et al. 2017, each hop looking for something else.
#pragma once
#include "model/layers/linear.h"
#include "model/pooling/pooling.h"

namespace attune {

class AttentionPooling : public Pooling {
 public:
  static constexpr PoolingKind kKind{
      .name = "attention",
      .sentence = "a learned mixture of all rows; several hops look for different things",
      .formula = "softmax(W2 tanh(W1 X)) X, one row per hop, side by side",
      .cite = "Lin et al. 2017, A Structured Self-Attentive Sentence Embedding",
  };
  struct Options {
    int64_t hops = 1, inner = 0;
    double penalty = 0;
    template <class V>
    void fields(V& v) {
      v("hops", hops, "mixtures side by side", between(1, 1024));
      v("inner", inner, "columns of the inner layer with tanh; 0: none, the query meets the rows as they are",
        between(0, 65536));
      v("penalty", penalty, "weight in the loss of |A A^T - I|^2, which keeps hops apart", at_least(0));
    }
  };
  AttentionPooling(const Options& o, int64_t d_model, const Blueprint& b);
  Var operator()(const Pass& pass, const Encoded& in) const override;
  int64_t width() const override { return options_.hops * d_model_; }

 private:
  Options options_;
  int64_t d_model_;
  std::unique_ptr<Linear> inner_;
  int query_;
};

}  // namespace attune
