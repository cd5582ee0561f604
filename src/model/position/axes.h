// Positions on several axes, as pixels have them, for schemes that change scores by the distance along one: each axis
// has its own part of such a scheme, and what they add to a score is added up. A scheme is told nothing of it: its hook
// sees tiles whose places are those of one axis.
#pragma once
#include <memory>
#include <vector>

#include "model/position/scheme.h"

namespace attune {

/// The hooks of all axes as one. Their tables lie one behind another, the first axis the first.
class AxesScores : public RelativeScores {
 public:
  struct Axis {
    const RelativeScores* scores;
    int64_t axis;                      // of the places
    std::array<int64_t, 2> rows = {};  // of its tables
  };
  explicit AxesScores(std::vector<Axis> axes) : axes_(std::move(axes)) {}

  int64_t scratch(int64_t dim) const override;
  bool heads_apart() const override;
  void scores(const ScoreTile& t, const HookTables& w, float* s) const override;
  void scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                       int64_t dq_stride) const override;
  void values(const ScoreTile& t, const HookTables& w, const float* weights, float* out,
              int64_t out_stride) const override;
  void values_backward(const ScoreTile& t, const HookTables& w, const float* dout, int64_t dout_stride,
                       float* dweights) const override;
  void values_gradient(const ScoreTile& t, const HookTables& w, const float* weights, const float* dout,
                       int64_t dout_stride) const override;
  Var scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const override;
  Var values_reference(Ctx& ctx, const Var& weights, const ReferencePlace& place) const override;

 private:
  std::vector<Axis> axes_;
};

/// A scheme that changes scores, once for each of some axes.
class AxesPosition : public PositionScheme {
 public:
  struct Axis {
    std::unique_ptr<PositionScheme> scheme;
    int64_t axis;  // of the places
  };
  explicit AxesPosition(std::vector<Axis> axes) : axes_(std::move(axes)) {}
  std::unique_ptr<RelativePosition> layer(const Blueprint& place, const AttentionSetup& s) const override;

 private:
  struct Layer;
  std::vector<Axis> axes_;
};

}  // namespace attune
