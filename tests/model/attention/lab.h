// A mechanism between random queries, keys and values, to be compared with its paper's equation written out in double.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>

#include "model/attention/mechanism.h"
#include "model/attention/multi_head.h"
#include "model/position/scheme.h"

namespace attune {

using Row = std::vector<double>;

/// A mechanism on its own between random queries, keys and values.
struct Lab {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  AttentionSetup setup;
  std::unique_ptr<AttentionMechanism> mechanism;
  std::unique_ptr<PositionScheme> scheme;
  std::unique_ptr<RelativePosition> position;
  std::vector<int32_t> places;  // of all rows where they are told, or none
  Segments segments = Segments::of_lengths({23, 1, 40});
  std::vector<float> rows;  // q, k, v side by side

  explicit Lab(const Choice& choice, bool causal, const Choice& position_choice = {"none"}) {
    setup.heads = setup.heads_kv = 2;
    setup.dim = 4;
    setup.causal = causal;
    const Blueprint self(shared, "encoder.0.self");
    mechanism = make_attention(choice, setup, self, "model.attention");
    scheme = make_position(position_choice, {setup.width(), 100}, Blueprint(shared), "model.position");
    position = scheme->layer(self.at("position"), setup);
    parameters.allocate();
    initialize(parameters, shared.inits, 5);
    make_rows();
  }
  /// Of all segments.
  void make_rows() {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    rows.resize(static_cast<size_t>(segments.rows() * 3 * setup.width()));
    for (float& x : rows) x = 1.5f * normal(random);
  }
  /// Row i, head h of queries (0), keys (1) or values (2).
  Row row(int what, int64_t i, int64_t h) const {
    const float* p = rows.data() + i * 3 * setup.width() + what * setup.width() + h * setup.dim;
    return {p, p + setup.dim};
  }
  Row parameter(const std::string& name) const {
    for (const NamedParameter& p : parameters.named())
      if (p.name == "encoder.0.self." + name || p.name == name)
        return {parameters.data() + p.offset, parameters.data() + p.offset + p.shape.size()};
    throw std::logic_error("no parameter " + name);
  }
  /// Where a row stands in its sequence.
  int64_t place(int64_t i) const {
    if (!places.empty()) return places[static_cast<size_t>(i)];
    int64_t first = 0;
    for (int64_t s = 0; s < segments.count() && segments.begin(s) <= i; ++s) first = segments.begin(s);
    return i - first;
  }
  /// Queries, keys and values of some sequences, as the position scheme wants them; where keys are the queries, so they
  /// are here.
  Projected projected(const Pass& pass, const Segments& of, int64_t first = 0) const {
    const int64_t w = setup.width(), n = of.rows();
    const Var x = pass.ctx.input(Tensor(rows.data() + first * 3 * w, Shape{n, 3 * w}));
    Projected p{x, x, x, 0, mechanism->parts().key ? w : 0, 2 * w, &of, &of};
    if (!places.empty()) p.query_places = p.key_places = Tensor(places.data() + first, Shape{n});
    if (!position) return p;
    p.hook = position->hook();
    p.tables = position->tables(pass, std::numeric_limits<int32_t>::max());
    p.plain_q = {p.q, p.q_column};
    p.plain_k = {p.k, p.k_column};
    const RowPositions where{&of, {}, p.query_places};
    return position->turn(pass, p, where, where);
  }
  std::vector<float> mixed() {
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, parameters};
    const Var y = mechanism->mix(pass, projected(pass, segments));
    return {y.value().as<float>(), y.value().as<float>() + y.value().size()};
  }
  /// What the rows of one sequence attend to, [heads, n, n].
  std::vector<float> weights(int64_t s) {
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, parameters};
    const Segments one = Segments::single(segments.length(s));
    std::vector<float> out(static_cast<size_t>(setup.heads * one.rows() * one.rows()));
    EXPECT_TRUE(mechanism->weights(pass, projected(pass, one, segments.begin(s)), out.data()));
    return out;
  }

  /// Row by row, for a mechanism that can't look ahead.
  std::vector<float> stepped() {
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, parameters};
    const int64_t w = setup.width();
    std::vector<float> all;
    for (int64_t s = 0; s < segments.count(); ++s) {
      const auto state = mechanism->state(1);
      state->use(arena);
      for (int64_t i = segments.begin(s); i < segments.begin(s + 1); ++i) {
        const Var x = ctx.input(Tensor(rows.data() + i * 3 * w, Shape{1, 3 * w}));
        const Var y = mechanism->step(pass, {x, x, x, 0, w, 2 * w}, *state);
        all.insert(all.end(), y.value().as<float>(), y.value().as<float>() + w);
      }
    }
    return all;
  }
  using Weights = std::function<Row(int64_t i, int64_t h, int64_t from, int64_t to)>;
  /// formula(query, head, first row, end) gives the weight of each row of the sequence, and the result is their sum.
  void expect(const Weights& weights) { expect(mixed(), weights); }
  void expect_steps(const Weights& weights) { expect(stepped(), weights); }
  void expect(const std::vector<float>& got, const Weights& weights) {
    for (int64_t s = 0; s < segments.count(); ++s)
      for (int64_t i = segments.begin(s); i < segments.begin(s) + segments.length(s); ++i)
        for (int64_t h = 0; h < setup.heads; ++h) {
          const Row a = weights(i, h, segments.begin(s), segments.begin(s) + segments.length(s));
          for (int64_t d = 0; d < setup.dim; ++d) {
            double want = 0;
            for (size_t j = 0; j < a.size(); ++j)
              want += a[j] * row(2, segments.begin(s) + static_cast<int64_t>(j), h)[static_cast<size_t>(d)];
            ASSERT_NEAR(got[static_cast<size_t>(i * setup.width() + h * setup.dim + d)], want, 2e-5)
                << "row " << i << ", head " << h;
          }
        }
  }
};

inline double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline Row divided(Row x, double by) {
  for (double& v : x) v /= by;
  return x;
}
inline double total(const Row& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum;
}
/// Columns of one of two heads of four.
inline Row head(const Row& x, size_t h) {
  return {x.begin() + static_cast<long>(h * 4), x.begin() + static_cast<long>(h * 4 + 4)};
}

using Matrix = std::vector<Row>;

/// A mechanism that works on rows before their projection: its whole sublayer, between random rows.
struct SublayerLab {
  Parameters parameters;
  Blueprint::Shared shared{parameters};
  AttentionSetup setup;
  std::unique_ptr<SelfAttention> layer;
  Segments segments = Segments::of_lengths({9, 14});
  std::vector<float> rows;

  SublayerLab(const Choice& choice, bool causal) {
    setup.heads = setup.heads_kv = 2;
    setup.dim = 4;
    setup.causal = causal;
    const Blueprint place(shared, "encoder.0.self");
    layer =
        std::make_unique<SelfAttention>(place, setup, make_attention(choice, setup, place, "model.attention"), nullptr);
    parameters.allocate();
    initialize(parameters, shared.inits, 5);
    parameters.repack();
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < segments.rows() * 8; ++i) rows.push_back(normal(random));
  }
  Matrix matrix(const std::string& name, int64_t columns) const {
    for (const NamedParameter& p : parameters.named())
      if (p.name == name) {
        Matrix m;
        for (int64_t r = 0; r < p.shape.size() / columns; ++r) {
          const float* from = parameters.data() + p.offset + r * columns;
          m.push_back({from, from + columns});
        }
        return m;
      }
    throw std::logic_error("no parameter " + name);
  }
  /// x W^T + b.
  Row linear(const std::string& name, const Row& x) const {
    const Matrix w = matrix("encoder.0.self." + name + ".weight", 8);
    const Row b = matrix("encoder.0.self." + name + ".bias", 8)[0];
    Row y;
    for (size_t i = 0; i < w.size(); ++i) y.push_back(dot(w[i], x) + b[i]);
    return y;
  }
  Row input(int64_t i) const { return {rows.begin() + i * 8, rows.begin() + (i + 1) * 8}; }
  Row output(int64_t i) {
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, parameters};
    Carried carried;
    const Var y = (*layer)(pass, ctx.input(Tensor(rows.data(), Shape{segments.rows(), 8})), segments, carried);
    return {y.value().row<float>(i), y.value().row<float>(i) + 8};
  }
  /// The same of the last row of a sequence, step by step.
  Row stepped(int64_t s) {
    Arena arena;
    Ctx ctx(arena);
    Pass pass{ctx, parameters};
    const auto state = layer->state(1);
    state->use(arena);
    const Segments one = Segments::single(1);
    Row last;
    for (int64_t i = 0; i < segments.length(s); ++i) {
      const std::vector<int32_t> offset{static_cast<int32_t>(i)};
      const std::vector<StateShare> shares{{state.get(), 1}};
      const Tensor x(rows.data() + (segments.begin(s) + i) * 8, Shape{1, 8});
      const Var y = layer->step(pass, ctx.input(x), {&one, offset}, shares);
      last.assign(y.value().as<float>(), y.value().as<float>() + 8);
    }
    return last;
  }
  /// What the rows of a sequence attend to, [heads, n, n].
  std::vector<float> looked_at(int64_t s) {
    Arena arena;
    Ctx ctx(arena);
    AttentionTap tap{"encoder.0.self"};
    Pass pass{ctx, parameters};
    pass.tap = &tap;
    Carried carried;
    const Segments one = Segments::single(segments.length(s));
    (*layer)(pass, ctx.input(Tensor(rows.data() + segments.begin(s) * 8, Shape{one.rows(), 8})), one, carried);
    return tap.weights;
  }
};

}  // namespace attune
