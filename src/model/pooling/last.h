// The last row alone: in a decoder, the only one that has read the whole text.
#pragma once
#include "model/pooling/pooling.h"

namespace attune {

class LastPooling : public Pooling {
 public:
  static constexpr PoolingKind kKind{
      .name = "last",
      .sentence = "the row of the end mark alone: in a decoder, the one that has read all others",
      .formula = "x_n",
      .cite = "Radford et al. 2018, Improving Language Understanding by Generative Pre-Training",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  LastPooling(const Options&, int64_t d_model, const Blueprint&) : width_(d_model) {}
  Var operator()(const Pass& pass, const Encoded& in) const override;
  int64_t width() const override { return width_; }

 private:
  int64_t width_;
};

}  // namespace attune
