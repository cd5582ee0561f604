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
    double dropout = 0;
    template <class V>
    void fields(V& v) {
      v("dropout", dropout, "share of the data's own numbers that are dropped, while training", from_below(0, 1));
    }
  };
  LinearInput(const Options& o, const InputSetup& setup, const Blueprint& b)
      : Input(setup, b, setup.side.sizes.source_grid),
        linear_(b.at("input"), setup.side.options.d_model, setup.side.sizes.source_width),
        numbers_(static_cast<double>(setup.side.options.d_model * setup.side.sizes.source_width)),
        own_rate_(static_cast<float>(o.dropout)),
        own_site_(b.site()) {}
  Encoded operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const override {
    return {placed(pass, linear_(pass, dropped(pass, values_of(pass, rows), own_rate_, own_site_)), rows, offsets),
            &rows};
  }
  double multiplied_weights() const override { return numbers_; }

 private:
  Linear linear_;
  double numbers_;
  float own_rate_;
  uint64_t own_site_;
};

}  // namespace attune
