// A few convolutions in front of the first layer: neighbouring rows of a sequence or pixels of a picture become one,
// with a stride fewer of them (Xiao et al. 2021, "Early Convolutions Help Transformers See Better": such a stem learns
// faster than patches of the same stride).
#pragma once
#include "model/input/input.h"
#include "model/layers/linear.h"

namespace attune {

class ConvolutionInput : public Input {
 public:
  static constexpr InputKind kKind{
      .name = "convolution",
      .sentence = "convolutions over neighbouring rows, or the pixels of a picture, and a learned matrix",
      .formula = "W relu(F_n * ... relu(F_1 * x + c_1) ... + c_n) + b",
      .cite = "Xiao et al. 2021, Early Convolutions Help Transformers See Better",
  };
  struct Options {
    int64_t size = 3, stride = 2, layers = 2, channels = 32;
    template <class V>
    void fields(V& v) {
      v("size", size, "rows or pixels, on each axis, that a filter sees", between(1, 64));
      v("stride", stride, "of each convolution: of so many rows, on each axis, one is left", between(1, 64));
      v("layers", layers, "convolutions, one after another", between(1, 16));
      v("channels", channels, "filters of the first; each that follows has twice as many", between(1, 65536));
    }
  };
  ConvolutionInput(const Options& o, const InputSetup& setup, const Blueprint& b);
  Encoded operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const override;
  double rows_per_row() const override { return rows_per_row_; }
  double multiplied_weights() const override { return numbers_; }

 private:
  struct Layer {
    int weight, bias;
  };
  Encoded on_grids(const Pass& pass, const Rows& rows) const;
  Encoded on_sequences(const Pass& pass, const Rows& rows) const;

  int64_t size_, stride_;
  bool grids_;
  double rows_per_row_ = 1, numbers_ = 0;
  std::vector<Layer> layers_;
  Linear last_;
};

}  // namespace attune
