// Rotary positions: queries and keys are turned by their place, so that their products depend on the distance alone (Su
// et al. 2021, "RoFormer", section 3.2.2).
#pragma once
#include <algorithm>
#include <vector>

#include "autograd/attention/rotate.h"
#include "model/position/growing_rows.h"
#include "model/position/scheme.h"

namespace attune {

class RopePosition : public PositionScheme {
 public:
  static constexpr PositionKind kKind{
      .name = "rope",
      .sentence = "queries and keys are turned by angles that grow with their position",
      .formula = "(R_i q_i) . (R_j k_j) / sqrt(d_k), R_m turns columns (2l, 2l + 1) by m base^(-2l / d_k)",
      .cite = "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding",
      .relative = Relative::turned,
      .grids = true,
      .details =
          "Pairs are adjacent columns (2l, 2l + 1) of a head: (x, y) becomes (x cos - y sin, x sin + y cos). "
          "Positions count from 0 on each side; attention from decoder to encoder is not turned. Where places have "
          "several axes, each turns d_k / axes columns of a head, the first axis the first, with d_k / axes in the "
          "formula for d_k.",
  };
  struct Options {
    double base = 10000;

    template <class V>
    void fields(V& v) {
      v("base", base, "of the wavelengths: larger ones tell longer distances", above(1));
    }
  };
  /// They cost no parameters: there are always enough for lines longer than those of the training.
  static constexpr int64_t kLeast = 4096;

  RopePosition(const Options& o, const PositionSetup& setup, const Blueprint&)
      : base_(o.base), longest_(std::max(setup.longest, kLeast)), axes_(std::max<int64_t>(1, std::ssize(setup.grid))) {}
  int64_t longest() const override { return longest_; }
  std::unique_ptr<RelativePosition> layer(const Blueprint&, const AttentionSetup& s) const override {
    return std::make_unique<Layer>(s, base_, axes_);
  }

 private:
  struct Layer : RelativePosition {
    Layer(const AttentionSetup& s, double base, int64_t axes);
    Projected turn(const Pass& pass, const Projected& p, const RowPositions& queries,
                   const RowPositions& keys) const override;

    /// The angles of rows: a row for each position, and `where` tells which; or, of several axes, one for each row.
    struct Angles {
      Rotation rotation;
      std::shared_ptr<const std::vector<float>> of_rows;  // of several axes
    };
    Angles angles_of(const Pass& pass, const RowPositions& where, int64_t rows) const;

    int64_t heads, heads_kv, dim, axes;
    mutable GrowingRows angles;  // of one axis
  };
  double base_;
  int64_t longest_, axes_;
};

}  // namespace attune
