#include "model/position/axes.h"

#include <algorithm>

#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"

namespace attune {

namespace {

ScoreTile along(const ScoreTile& tile, int64_t axis) {
  ScoreTile t = tile;
  t.query_places = tile.query_places.axis(axis);
  t.key_places = tile.key_places.axis(axis);
  return t;
}

/// f(hook, tile, tables) of each axis.
template <class F>
void each_axis(const std::vector<AxesScores::Axis>& axes, const ScoreTile& tile, const HookTables& all, F f) {
  int64_t first[2] = {0, 0};
  for (const AxesScores::Axis& a : axes) {
    HookTables own;
    for (size_t k = 0; k < 2; ++k) {
      if (all.values[k]) own.values[k] = all.values[k].row_range(first[k], a.rows[k]);
      if (all.gradients[k]) own.gradients[k] = all.gradients[k].row_range(first[k], a.rows[k]);
      first[k] += a.rows[k];
    }
    f(*a.scores, along(tile, a.axis), own);
  }
}

/// f(hook, place) of each axis, added up.
template <class F>
Var sum_of_axes(Ctx& ctx, const std::vector<AxesScores::Axis>& axes, const ReferencePlace& place, F f) {
  Var sum;
  int64_t first[2] = {0, 0};
  for (const AxesScores::Axis& a : axes) {
    ReferencePlace own = place;
    own.query_places = place.query_places.axis(a.axis);
    own.key_places = place.key_places.axis(a.axis);
    for (size_t k = 0; k < 2; ++k) {
      if (place.tables[k]) own.tables[k] = slice_rows(ctx, place.tables[k], first[k], a.rows[k]);
      first[k] += a.rows[k];
    }
    const Var one = f(*a.scores, own);
    sum = !sum ? one : !one ? sum : add(ctx, sum, one);
  }
  return sum;
}

}  // namespace

int64_t AxesScores::scratch(int64_t dim) const {
  int64_t most = 0;
  for (const Axis& a : axes_) most = std::max(most, a.scores->scratch(dim));
  return most;
}

bool AxesScores::heads_apart() const {
  return std::all_of(axes_.begin(), axes_.end(), [](const Axis& a) { return a.scores->heads_apart(); });
}

void AxesScores::scores(const ScoreTile& t, const HookTables& w, float* s) const {
  each_axis(axes_, t, w, [&](const RelativeScores& hook, const ScoreTile& tile, const HookTables& own) {
    hook.scores(tile, own, s);
  });
}

void AxesScores::scores_backward(const ScoreTile& t, const HookTables& w, const float* ds, float* dq,
                                 int64_t dq_stride) const {
  each_axis(axes_, t, w, [&](const RelativeScores& hook, const ScoreTile& tile, const HookTables& own) {
    hook.scores_backward(tile, own, ds, dq, dq_stride);
  });
}

void AxesScores::values(const ScoreTile& t, const HookTables& w, const float* weights, float* out,
                        int64_t out_stride) const {
  each_axis(axes_, t, w, [&](const RelativeScores& hook, const ScoreTile& tile, const HookTables& own) {
    hook.values(tile, own, weights, out, out_stride);
  });
}

void AxesScores::values_backward(const ScoreTile& t, const HookTables& w, const float* dout, int64_t dout_stride,
                                 float* dweights) const {
  each_axis(axes_, t, w, [&](const RelativeScores& hook, const ScoreTile& tile, const HookTables& own) {
    hook.values_backward(tile, own, dout, dout_stride, dweights);
  });
}

void AxesScores::values_gradient(const ScoreTile& t, const HookTables& w, const float* weights, const float* dout,
                                 int64_t dout_stride) const {
  each_axis(axes_, t, w, [&](const RelativeScores& hook, const ScoreTile& tile, const HookTables& own) {
    hook.values_gradient(tile, own, weights, dout, dout_stride);
  });
}

Var AxesScores::scores_reference(Ctx& ctx, const Var& q, const ReferencePlace& place) const {
  return sum_of_axes(ctx, axes_, place, [&](const RelativeScores& hook, const ReferencePlace& own) {
    return hook.scores_reference(ctx, q, own);
  });
}

Var AxesScores::values_reference(Ctx& ctx, const Var& weights, const ReferencePlace& place) const {
  return sum_of_axes(ctx, axes_, place, [&](const RelativeScores& hook, const ReferencePlace& own) {
    return hook.values_reference(ctx, weights, own);
  });
}

struct AxesPosition::Layer : RelativePosition {
  explicit Layer(std::vector<std::unique_ptr<RelativePosition>> parts, const std::vector<Axis>& axes)
      : parts(std::move(parts)), scores(hooks_of(this->parts, axes)) {}
  static std::vector<AxesScores::Axis> hooks_of(const std::vector<std::unique_ptr<RelativePosition>>& parts,
                                                const std::vector<Axis>& axes) {
    std::vector<AxesScores::Axis> hooks;
    for (size_t i = 0; i < parts.size(); ++i)
      hooks.push_back({parts[i]->hook(), axes[i].axis, parts[i]->hook()->table_rows()});
    return hooks;
  }
  const RelativeScores* hook() const override { return &scores; }
  std::array<Var, 2> tables(const Pass& pass, int64_t farthest) const override {
    std::vector<Var> all[2];
    for (const auto& p : parts) {
      const std::array<Var, 2> own = p->tables(pass, farthest);
      for (size_t k = 0; k < 2; ++k)
        if (own[k]) all[k].push_back(own[k]);
    }
    std::array<Var, 2> joined;
    for (size_t k = 0; k < 2; ++k)
      if (!all[k].empty()) joined[k] = concatenate_rows(pass.ctx, all[k]);
    return joined;
  }

  std::vector<std::unique_ptr<RelativePosition>> parts;
  AxesScores scores;
};

std::unique_ptr<RelativePosition> AxesPosition::layer(const Blueprint& place, const AttentionSetup& s) const {
  std::vector<std::unique_ptr<RelativePosition>> parts;
  for (const Axis& a : axes_) parts.push_back(a.scheme->layer(place.at(std::to_string(a.axis)), s));
  return std::make_unique<Layer>(std::move(parts), axes_);
}

}  // namespace attune
