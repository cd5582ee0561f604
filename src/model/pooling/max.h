// The largest of each column.
#pragma once
#include "autograd/operations/pool.h"
#include "model/pooling/pooling.h"

namespace attune {

class MaxPooling : public Pooling {
 public:
  static constexpr PoolingKind kKind{
      .name = "max",
      .sentence = "the largest number of each column of a text's rows",
      .formula = "max_i x_i",
      .cite = "Collobert et al. 2011, Natural Language Processing (Almost) from Scratch",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  MaxPooling(const Options&, int64_t d_model, const Blueprint&) : width_(d_model) {}
  Var operator()(const Pass& pass, const Encoded& in) const override {
    return segment_max(pass.ctx, in.x, in.rows->segments);
  }
  int64_t width() const override { return width_; }

 private:
  int64_t width_;
};

}  // namespace attune
