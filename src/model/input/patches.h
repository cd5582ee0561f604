// Pictures in patches: squares of pixels side by side, each brought to the model's width by one learned matrix
// (Dosovitskiy et al. 2021, section 3.1): a convolution whose stride is its size. Pixels that fill no square are left
// out.
#pragma once
#include "model/input/input.h"

namespace attune {

class PatchesInput : public Input {
 public:
  static constexpr InputKind kKind{
      .name = "patches",
      .sentence = "squares of a picture's pixels, times a learned matrix; a row for each square, on two axes",
      .formula = "W [x_(i s, j s), ..., x_(i s + s - 1, j s + s - 1)] + b",
      .cite = "Dosovitskiy et al. 2021, An Image is Worth 16x16 Words, equation 1",
      .grids = true,
  };
  struct Options {
    int64_t size = 4;
    template <class V>
    void fields(V& v) {
      v("size", size, "pixels on each side of a patch", between(1, 1024));
    }
  };
  PatchesInput(const Options& o, const InputSetup& setup, const Blueprint& b);
  Encoded operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const override;
  double rows_per_row() const override { return 1 / static_cast<double>(size_ * size_); }
  double multiplied_weights() const override { return numbers_; }

 private:
  int64_t size_;
  double numbers_;  // of the filters, for each pixel
  int weight_, bias_;
};

}  // namespace attune
