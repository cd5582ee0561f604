// Vectors that come with the data (frames, nodes, series), brought to the model's width by one learned matrix.
#pragma once
#include "model/input/input.h"
#include "model/layers/linear.h"

namespace attune {

class LinearInput : public Input {
 public:
  static constexpr InputKind kKind{
      .name = "linear",
      .sentence = "vectors of the data, times a learned matrix",
      .formula = "W x + b",
      .cite = "Dosovitskiy et al. 2021, An Image is Worth 16x16 Words, equation 1",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  LinearInput(const Options&, const InputSetup& setup, const Blueprint& b)
      : Input(setup, b), linear_(b.at("input"), setup.side.options.d_model, setup.side.sizes.source_width) {}
  Encoded operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const override {
    return {placed(pass, linear_(pass, pass.ctx.input(rows.value_tensor())), rows, offsets), &rows};
  }

 private:
  Linear linear_;
};

}  // namespace attune
