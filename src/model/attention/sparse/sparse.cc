#include "model/attention/sparse/sparse.h"

#include "base/error.h"
#include "base/random.h"

namespace attune {

namespace {

/// Where a layer's random blocks are drawn from: by its name, which never changes, so that a saved model keeps them.
uint64_t seed_of(int64_t seed, const Blueprint& place) {
  uint64_t key = static_cast<uint64_t>(seed);
  for (const char c : place.name()) key = attune::mix(key, static_cast<unsigned char>(c));
  return key;
}

}  // namespace

SparseAttention::SparseAttention(const std::string& atoms, int64_t block, int64_t seed, const AttentionSetup& setup,
                                 const Blueprint& place)
    : SparseAttention(drawn_pattern(atoms, block, seed, setup.causal, place), setup) {}

Pattern SparseAttention::drawn_pattern(const std::string& atoms, int64_t block, int64_t seed, bool causal,
                                       const Blueprint& place) {
  return parse_pattern(atoms, {{}, {}, block, seed_of(seed, place), causal}, "atoms");
}

BatchPattern SparseAttention::pattern_of(const Pass& pass, const Segments& segments) const {
  const Edges* edges = pass.rows && !pass.rows->edges.empty() ? &pass.rows->edges : nullptr;
  check(!edges || std::ssize(edges->start) == segments.rows() + 1, "edges", "edges of {} rows, there are {}",
        edges ? std::ssize(edges->start) - 1 : 0, segments.rows());
  return patterns_.of_batch(segments, edges);
}

Var SparseAttention::mix(const Pass& pass, const Projected& p) const {
  const auto pattern = keep(pass.ctx, pattern_of(pass, *p.queries));
  Attention a = dot_attention(pass, setup_, p, Mask{.causal = setup_.causal});
  a.pattern = pattern.get();
  return attention(pass.ctx, a);
}

std::unique_ptr<AttentionState> SparseAttention::state(int64_t rows) const {
  const Pattern& pattern = patterns_.pattern();
  const int64_t reach = pattern.reach();
  if (reach == Atom::kFar) return std::make_unique<KeyCache>(rows, 2 * setup_.width_kv());
  return std::make_unique<KeyCache>(rows, 2 * setup_.width_kv(), reach + 1,
                                    [&pattern](int64_t position) { return pattern.stays(position); });
}

Var SparseAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  cache.append(p, setup_.width_kv());
  patterns_.pattern().keys_of(cache.steps() - 1, {cache.steps()}, cache.chosen);
  return step_dot(pass, setup_, p, {.cache = cache, .chosen = &cache.chosen});
}

bool SparseAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  const BatchPattern pattern = pattern_of(pass, *p.queries);
  dot_weights(pass, setup_, p, Mask{.causal = setup_.causal}, out, {}, &pattern);
  return true;
}

double SparseAttention::operations(const Parameters&, const Segments& queries, const Segments&) const {
  constexpr double kEdges = 8;  // of a row, about: how many there are is not known here
  double pairs = patterns_.pattern().by_edges() ? kEdges * static_cast<double>(queries.rows()) : 0;
  for (int64_t s = 0; !patterns_.pattern().by_edges() && s < queries.count(); ++s)
    pairs += static_cast<double>(patterns_.of_length(queries.length(s))->pairs());
  return 4 * static_cast<double>(setup_.width()) * pairs;
}

}  // namespace attune
