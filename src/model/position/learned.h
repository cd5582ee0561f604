// A learned vector for each position, added to the embeddings (Gehring et al. 2017; Vaswani et al. 2017, table 3 E).
#pragma once
#include "model/position/scheme.h"

namespace attune {

class LearnedPosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "learned",
      .sentence = "a learned vector for each position up to data.max_length, added to the embeddings",
      .formula = "x_pos + P[pos]",
      .cite = "Gehring et al. 2017, Convolutional Sequence to Sequence Learning",
      .grids = true,
      .details =
          "A table of data.max_length + 1 rows (+ 2 where a text has two marks), begun normal with deviation 1 / "
          "sqrt(d). Longer texts than that are refused, cropped or cut. Where places have several axes, each has a "
          "table with d / axes columns.",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  LearnedPosition(const Options&, const PositionSetup& setup, const Blueprint& b);
  Var table(const Pass& pass, int64_t) const override { return pass[tables_[0]]; }
  Var axis_table(const Pass& pass, int64_t axis, int64_t) const override {
    return pass[tables_[static_cast<size_t>(axis)]];
  }
  int64_t longest() const override { return longest_; }

 private:
  std::vector<int> tables_;  // one, or one for each axis
  int64_t longest_;
};

}  // namespace attune
