// The mean of all rows.
#pragma once
#include "autograd/operations/pool.h"
#include "model/pooling/pooling.h"

namespace attune {

class MeanPooling : public Pooling {
 public:
  static constexpr PoolingKind kKind{
      .name = "mean",
      .sentence = "the mean of all rows of a text",
      .formula = "(x_1 + ... + x_n) / n",
      .cite = "Iyyer et al. 2015, Deep Unordered Composition Rivals Syntactic Methods for Text Classification",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  MeanPooling(const Options&, int64_t d_model, const Blueprint&) : width_(d_model) {}
  Var operator()(const Pass& pass, const Encoded& in) const override {
    return segment_mean(pass.ctx, in.x, in.rows->segments);
  }
  int64_t width() const override { return width_; }

 private:
  int64_t width_;
};

}  // namespace attune
