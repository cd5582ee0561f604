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
      .details =
          "Pairs are adjacent columns (2l, 2l + 1) of a head: (x, y) becomes (x cos - y sin, x sin + y cos). "
          "Positions count from 0 on each side; attention from decoder to encoder is not turned.",
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
      : base_(o.base), longest_(std::max(setup.longest, kLeast)) {}
  int64_t longest() const override { return longest_; }
  std::unique_ptr<RelativePosition> layer(const Blueprint&, const AttentionSetup& s) const override {
    return std::make_unique<Layer>(s, base_);
  }

 private:
  struct Layer : RelativePosition {
    Layer(const AttentionSetup& s, double base);
    Projected turn(const Pass& pass, const Projected& p, const RowPositions& queries,
                   const RowPositions& keys) const override;

    int64_t heads, heads_kv, dim;
    mutable GrowingRows angles;
  };
  double base_;
  int64_t longest_;
};

}  // namespace attune
