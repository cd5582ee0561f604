// The sum of all rows over the square root of how many there are, as a vector of counts of length 1 has it: for bags of
// words.
#pragma once
#include "model/pooling/pooling.h"

namespace attune {

class BagPooling : public Pooling {
 public:
  static constexpr PoolingKind kKind{
      .name = "bag",
      .sentence = "the sum of all rows of a text over the square root of their number",
      .formula = "(x_1 + ... + x_n) / sqrt(n)",
      .cite = "Joachims 1998, Text Categorization with Support Vector Machines: Learning with Many Relevant Features",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  BagPooling(const Options&, int64_t d_model, const Blueprint&) : width_(d_model) {}
  Var operator()(const Pass& pass, const Encoded& in) const override;
  int64_t width() const override { return width_; }

 private:
  int64_t width_;
};

}  // namespace attune
