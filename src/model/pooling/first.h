// The first row alone, which learns to gather what is needed from all others.
#pragma once
#include "model/pooling/pooling.h"

namespace attune {

class FirstPooling : public Pooling {
 public:
  static constexpr PoolingKind kKind{
      .name = "first",
      .sentence = "the row of the begin mark alone, which learns to gather from all others",
      .formula = "x_1",
      .cite = "Devlin et al. 2019, BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  FirstPooling(const Options&, int64_t d_model, const Blueprint&) : width_(d_model) {}
  Var operator()(const Pass& pass, const Encoded& in) const override;
  int64_t width() const override { return width_; }

 private:
  int64_t width_;
};

}  // namespace attune
