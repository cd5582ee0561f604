#include "model/layers/multi_head.h"

#include <cmath>

namespace attune {

namespace {

/// Query, key and value matrices begin smaller than others: their outputs meet in a product.
Init projection(const AttentionSetup& s, int64_t d_model) {
  return Init::xavier(d_model, s.heads * s.dim, 1 / std::sqrt(2.0));
}

void look(const Pass& pass, const std::string& name, const AttentionSetup& setup, const AttentionMechanism& mechanism,
          const Projected& p) {
  if (!pass.tap || pass.tap->place != name) return;
  AttentionTap& tap = *pass.tap;
  tap.heads = setup.heads;
  tap.queries = p.queries->length(0);
  tap.keys = p.keys->length(0);
  tap.weights.resize(static_cast<size_t>(tap.heads * tap.queries * tap.keys));
  mechanism.weights(p, tap.weights.data());
}

}  // namespace

SelfAttention::SelfAttention(const Blueprint& b, const AttentionSetup& s, std::unique_ptr<AttentionMechanism> m)
    : setup(s),
      name(b.name()),
      query_key_value(b, {{"query", s.heads * s.dim}, {"key", s.heads_kv * s.dim}, {"value", s.heads_kv * s.dim}},
                      s.heads * s.dim, projection(s, s.heads * s.dim)),
      output(b.at("output"), s.heads * s.dim, s.heads * s.dim),
      mechanism(std::move(m)) {}

Var SelfAttention::operator()(const Pass& pass, const Var& x, const Segments& segments) const {
  const Var qkv = query_key_value(pass, x);  // [n, (heads + 2 heads_kv) dim]
  const int64_t k = setup.heads * setup.dim, v = k + setup.heads_kv * setup.dim;
  const Projected p{qkv, qkv, qkv, 0, k, v, &segments, &segments};
  look(pass, name, setup, *mechanism, p);
  return output(pass, mechanism->mix(pass.ctx, p));
}

Var SelfAttention::step(const Pass& pass, const Var& x, AttentionState& state) const {
  const Var qkv = query_key_value(pass, x);  // [rows, (heads + 2 heads_kv) dim]
  const int64_t k = setup.heads * setup.dim, v = k + setup.heads_kv * setup.dim;
  return output(pass, mechanism->step(pass.ctx, {qkv, qkv, qkv, 0, k, v}, state));
}

CrossAttention::CrossAttention(const Blueprint& b, const AttentionSetup& s, std::unique_ptr<AttentionMechanism> m)
    : setup(s),
      name(b.name()),
      query(b.at("query"), s.heads * s.dim, s.heads * s.dim),
      key_value(b, {{"key", s.heads_kv * s.dim}, {"value", s.heads_kv * s.dim}}, s.heads * s.dim,
                projection(s, s.heads * s.dim)),
      output(b.at("output"), s.heads * s.dim, s.heads * s.dim),
      mechanism(std::move(m)) {}

Var CrossAttention::operator()(const Pass& pass, const Var& x, const Segments& queries, const Var& memory,
                               const Segments& sources) const {
  const Projected p{query(pass, x), memory, memory, 0, 0, setup.heads_kv * setup.dim, &queries, &sources};
  look(pass, name, setup, *mechanism, p);
  return output(pass, mechanism->mix(pass.ctx, p));
}

Var CrossAttention::step(const Pass& pass, const Var& x, const Var& memory, const Segments& sources,
                         std::span<const int32_t> source_of) const {
  const Projected p{query(pass, x), memory, memory, 0, 0, setup.heads_kv * setup.dim, nullptr, &sources};
  return output(pass, mechanism->read(pass.ctx, p, source_of));
}

}  // namespace attune
