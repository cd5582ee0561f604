// Sinusoids of many wavelengths, added to the embeddings (Vaswani et al. 2017, section 3.5).
#pragma once
#include <algorithm>

#include "kernels/vocabulary/embed.h"
#include "model/position/growing_rows.h"
#include "model/position/scheme.h"

namespace attune {

class SinusoidalPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "sinusoidal",
      .sentence = "fixed sinusoids of many wavelengths, added to the embeddings, as published",
      .formula = "PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d))",
      .cite = "Vaswani et al. 2017, Attention Is All You Need",
      .grids = true,
      .details =
          "Columns 2i and 2i + 1 are sine and cosine of the same wave; positions count from 0, the begin mark being "
          "one where there is one. Where places have several axes, each has d / axes columns, the first axis the "
          "first.",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  /// They cost no parameters: there are always enough for lines longer than those of the training.
  static constexpr int64_t kLeast = 1024;

  SinusoidalPosition(const Options&, const PositionSetup& setup, const Blueprint&)
      : longest_(std::max(setup.longest, kLeast)),
        d_(setup.d_model / std::max<int64_t>(1, std::ssize(setup.grid))),
        table_(d_, fill_sinusoidal) {}
  Var table(const Pass& pass, int64_t positions) const override {
    const int64_t rows = std::min(positions, longest_);
    if (pass.dtype() == DType::f32) return pass.ctx.input(table_.first(rows));
    const Var exact = pass.ctx.make(Shape{rows, d_}, pass.dtype(), {});
    pass.ctx.run([&] { fill_sinusoidal(exact.value()); });
    return exact;
  }
  /// The same waves for each axis.
  Var axis_table(const Pass& pass, int64_t, int64_t positions) const override { return table(pass, positions); }
  int64_t longest() const override { return longest_; }

 private:
  int64_t longest_, d_;
  mutable GrowingRows table_;
};

}  // namespace attune
