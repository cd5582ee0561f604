#include "model/attention/multi_head.h"

#include <algorithm>

namespace attune {

namespace {

/// Room for the weights of the layer `name`, if it is the one to look at.
float* tap_of(const Pass& pass, const std::string& name, int64_t heads, int64_t queries, int64_t keys) {
  if (!pass.tap || pass.tap->place != name) return nullptr;
  AttentionTap& tap = *pass.tap;
  tap.heads = heads;
  tap.queries = queries;
  tap.keys = keys;
  tap.weights.resize(static_cast<size_t>(heads * queries * keys));
  return tap.weights.data();
}

void look_at(const Pass& pass, const std::string& name, const AttentionSetup& setup,
             const AttentionMechanism& mechanism, const Projected& p) {
  if (!pass.tap) return;  // a batch may have no sequence at all
  float* to = tap_of(pass, name, setup.heads, p.queries->length(0), p.keys->length(0));
  if (to && !mechanism.weights(pass, p, to)) pass.tap->weights.clear();
}

/// What single rows attend to, source by source, behind what is there already.
void look_at_rows(const Pass& pass, const AttentionSetup& setup, const AttentionMechanism& mechanism,
                  const Projected& p, std::span<const int32_t> source_of) {
  std::vector<float>& all = pass.tap->weights;
  pass.tap->heads = setup.heads;
  for (size_t from = 0, to = 0; from < source_of.size(); from = to) {
    while (to < source_of.size() && source_of[to] == source_of[from]) ++to;
    const auto first = static_cast<int64_t>(from), rows = static_cast<int64_t>(to - from), s = int64_t{source_of[from]};
    const Segments queries = Segments::single(rows), keys = Segments::single(p.keys->length(s));
    Projected one = p;
    one.q = pass.ctx.input(p.q.value().row_range(first, rows));
    one.k = one.v = pass.ctx.input(p.k.value().row_range(p.keys->begin(s), p.keys->length(s)));
    one.queries = &queries;
    one.keys = &keys;
    const size_t before = all.size();
    all.resize(before + static_cast<size_t>(setup.heads * rows * keys.length(0)));
    if (mechanism.weights(pass, one, all.data() + before)) continue;
    all.clear();
    return;
  }
}

Var some_rows(const Pass& pass, const Var& x, int64_t first, int64_t rows) {
  return pass.ctx.input(x.value().row_range(first, rows));
}

/// The queries of some rows, and their own keys and values.
Projected some_rows(const Pass& pass, const Projected& p, int64_t first, int64_t rows) {
  Projected some = p;
  some.q = some_rows(pass, p.q, first, rows);
  some.k = p.k.slot() == p.q.slot() ? some.q : some_rows(pass, p.k, first, rows);
  some.v = p.v.slot() == p.q.slot() ? some.q : some_rows(pass, p.v, first, rows);
  for (HeadColumns* plain : {&some.plain_q, &some.plain_k})
    if (plain->x) plain->x = some_rows(pass, plain->x, first, rows);
  return some;
}

void put_rows(const Var& from, const Var& to, int64_t first) {
  for (int64_t i = 0; i < from.rows(); ++i)
    std::copy_n(from.value().row<float>(i), from.cols(), to.value().row<float>(first + i));
}

std::optional<JoinedLinear> projections(const Blueprint& b, const AttentionSetup& s, const LayerParts& parts) {
  if (!parts.projections) return {};
  std::vector<JoinedLinear::Part> columns{{"query", s.width()}};
  if (parts.key) columns.push_back({"key", s.width_kv()});
  columns.push_back({"value", s.width_kv()});
  return JoinedLinear(b, columns, s.width(), s.projection());
}

}  // namespace

SelfAttention::SelfAttention(const Blueprint& b, const AttentionSetup& s, std::unique_ptr<AttentionMechanism> m,
                             std::unique_ptr<RelativePosition> p)
    : setup(s),
      name(b.name()),
      mechanism(std::move(m)),
      parts(mechanism->parts()),
      position(std::move(p)),
      query_key_value(projections(b, s, parts)) {
  if (position && mechanism->memory() > 0) position->extend(mechanism->memory());
  if (parts.projections) output.emplace(b.at("output"), s.width(), s.width());
}

Projected SelfAttention::project(const Pass& pass, const Var& x, const Segments* segments,
                                 const RowPositions& where) const {
  const Var qkv = (*query_key_value)(pass, x);  // [n, (heads + 2 heads_kv) dim]
  const int64_t k = parts.key ? setup.width() : 0, v = setup.width() + (parts.key ? setup.width_kv() : 0);
  return placed(pass, {qkv, qkv, qkv, 0, k, v, segments, segments}, where, where);
}

Projected SelfAttention::placed(const Pass& pass, const Projected& p, const RowPositions& queries,
                                const RowPositions& keys) const {
  if (!position) return p;
  Projected to = p;
  to.hook = position->hook();
  if (to.hook)
    to.tables = position->tables(pass, std::max(positions_of(queries, p.q.rows()), positions_of(keys, p.k.rows())) - 1);
  to.query_places = queries.places;
  to.key_places = keys.places;
  if (parts.plain) {
    to.plain_q = {p.q, p.q_column};
    to.plain_k = {p.k, p.k_column};
  }
  return position->turn(pass, to, queries, keys);
}

Var SelfAttention::step(const Pass& pass, const Var& x, const RowPositions& where,
                        std::span<const StateShare> states) const {
  if (states.size() == 1) return mechanism->attend_step(pass, *this, x, where, *states[0].state);
  const Projected all = parts.projections ? project(pass, x, nullptr, where) : Projected{};
  Var y = pass.ctx.make(Shape{x.rows(), setup.width()}, DType::f32, {});
  int64_t first = 0;
  for (const auto& [state, rows] : states) {
    if (parts.projections) {
      put_rows(mechanism->step(pass, some_rows(pass, all, first, rows), *state), y, first);
    } else {  // the mechanism does the whole sublayer
      const Segments single = Segments::of_lengths(std::vector<int32_t>(static_cast<size_t>(rows), 1));
      const auto offsets = where.offsets.subspan(static_cast<size_t>(first), static_cast<size_t>(rows));
      put_rows(mechanism->attend_step(pass, *this, some_rows(pass, x, first, rows), {&single, offsets}, *state), y,
               first);
    }
    first += rows;
  }
  return parts.projections ? (*output)(pass, y) : y;
}

Var SelfAttention::prefill(const Pass& pass, const Var& x, const Segments& segments, AttentionState& state,
                           bool wanted) const {
  const Projected p = project(pass, x, &segments, {&segments, {}, pass.places()});
  mechanism->prefill(pass, p, state);
  return wanted ? (*output)(pass, mechanism->mix(pass, p)) : Var();
}

double SelfAttention::multiplied_weights() const {
  return 2 * static_cast<double>(setup.width()) * static_cast<double>(setup.width() + setup.width_kv());
}

void SelfAttention::look(const Pass& pass, const Projected& p) const { look_at(pass, name, setup, *mechanism, p); }

float* SelfAttention::tapped(const Pass& pass, int64_t queries, int64_t keys) const {
  return tap_of(pass, name, setup.heads, queries, keys);
}

Var AttentionMechanism::attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& segments,
                               Carried&) const {
  const Projected p = layer.project(pass, x, &segments, {&segments, {}, pass.places()});
  layer.look(pass, p);
  return (*layer.output)(pass, mix(pass, p));
}

Var AttentionMechanism::attend_step(const Pass& pass, const SelfAttention& layer, const Var& x,
                                    const RowPositions& where, AttentionState& state) const {
  return (*layer.output)(pass, step(pass, layer.project(pass, x, nullptr, where), state));
}

CrossAttention::CrossAttention(const Blueprint& b, const AttentionSetup& s, int64_t read_width,
                               std::unique_ptr<AttentionMechanism> m)
    : setup(s),
      read_width(read_width),
      name(b.name()),
      query(b.at("query"), s.heads * s.dim, s.heads * s.dim),
      key_value(b, {{"key", s.heads_kv * s.dim}, {"value", s.heads_kv * s.dim}}, read_width, s.projection()),
      output(b.at("output"), s.heads * s.dim, s.heads * s.dim),
      mechanism(std::move(m)) {}

MultipliedWeights CrossAttention::multiplied_weights() const {
  return {2 * static_cast<double>(read_width) * static_cast<double>(setup.width_kv()),
          2 * static_cast<double>(setup.width()) * static_cast<double>(setup.width())};
}

Var CrossAttention::operator()(const Pass& pass, const Var& x, const Segments& queries, const Var& memory,
                               const Segments& sources) const {
  const Projected p{query(pass, x), memory, memory, 0, 0, setup.heads_kv * setup.dim, &queries, &sources};
  look_at(pass, name, setup, *mechanism, p);
  if (pass.guided && pass.guided->place == name) pass.guided->loss = mechanism->guide(pass, p, pass.guided->guide);
  return output(pass, mechanism->mix(pass, p));
}

Var CrossAttention::step(const Pass& pass, const Var& x, std::span<const MemoryShare> shares) const {
  const Var q = query(pass, x);
  const bool looked_at = pass.tap && pass.tap->place == name;
  if (looked_at) pass.tap->weights.clear();
  Var y;
  int64_t first = 0;
  for (const MemoryShare& s : shares) {
    const auto rows = std::ssize(s.source_of);
    const bool all = shares.size() == 1;
    const Projected p{all ? q : some_rows(pass, q, first, rows),
                      *s.memory,
                      *s.memory,
                      0,
                      0,
                      setup.heads_kv * setup.dim,
                      nullptr,
                      s.sources};
    if (looked_at) look_at_rows(pass, setup, *mechanism, p, s.source_of);
    const Var read = mechanism->read(pass, p, s.source_of, s.last);
    if (all) return output(pass, read);
    if (!y) y = pass.ctx.make(Shape{x.rows(), setup.width()}, DType::f32, {});
    put_rows(read, y, first);
    first += rows;
  }
  return output(pass, y);
}

}  // namespace attune
