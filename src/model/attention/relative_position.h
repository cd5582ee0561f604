// What a position scheme (model/position/scheme.h) does inside one attention layer.
#pragma once
#include <array>

#include "model/attention/mechanism.h"

namespace attune {

class RelativePosition {
 public:
  virtual ~RelativePosition() = default;
  /// Changes queries and keys before they meet, which stand at these positions. Where both are parts of one matrix, so
  /// are their positions the same.
  virtual Projected turn(const Pass&, const Projected& p, const RowPositions& /*queries*/,
                         const RowPositions& /*keys*/) const {
    return p;
  }
  /// Distances may be that much longer than the longest sequence: what the layer remembers of the text before.
  virtual void extend(int64_t /*positions*/) {}
  /// Changes the scores, reading these tables; none: it does not. No two rows at hand are farther apart than that.
  virtual const RelativeScores* hook() const { return nullptr; }
  virtual std::array<Var, 2> tables(const Pass&, int64_t /*farthest*/) const { return {}; }
};

}  // namespace attune
