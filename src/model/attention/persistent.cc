#include "model/attention/persistent.h"

#include <cmath>

#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"

namespace attune {

namespace {
double root(int64_t n) { return std::sqrt(static_cast<double>(n)); }
}  // namespace

PersistentAttention::PersistentAttention(const Options& o, const AttentionSetup& s, const Blueprint& place)
    : setup_(s),
      mask_(s.causal ? Mask::past() : Mask::none()),
      size_(o.size),
      feed_forward_(o.feed_forward),
      key_(place.table("memory.key", o.size, s.width_kv(), Init::normal(1 / root(s.dim)))),
      value_(place.table("memory.value", o.size, s.width_kv(), Init::normal(1 / root(o.size)))),
      site_(place.site()) {}

/// Kept small and scaled up where they are used, as the authors do: Adam's steps are then larger for them.
PersistentAttention::Memory PersistentAttention::learned(const Pass& pass) const {
  return {scale(pass.ctx, pass[key_], root(setup_.dim)), scale(pass.ctx, pass[value_], root(size_))};
}

Var PersistentAttention::mix(const Pass& pass, const Projected& p) const {
  const Memory m = learned(pass);
  const auto all = keep(pass.ctx, Segments::single(p.q.rows())), few = keep(pass.ctx, Segments::single(size_));
  Projected shared{p.q, m.key, m.value, p.q_column, 0, 0, all.get(), few.get()};
  Attention to_memory = dot_attention(pass, setup_, shared, Mask::none());
  to_memory.dropout = pass.ctx.dropout(setup_.dropout, site_);
  return joint_attention(pass.ctx, dot_attention(pass, setup_, p, mask_), to_memory);
}

std::unique_ptr<AttentionState> PersistentAttention::state(int64_t rows) const {
  return std::make_unique<KeyCache>(rows, 2 * setup_.width_kv());
}

Var PersistentAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  if (cache.steps() == 0) {
    const Memory m = learned(pass);
    cache.share(size_);
    for (int64_t i = 0; i < size_; ++i) {
      std::copy_n(m.key.value().row<float>(i), setup_.width_kv(), cache.shared_row(i));
      std::copy_n(m.value.value().row<float>(i), setup_.width_kv(), cache.shared_row(i) + setup_.width_kv());
    }
  }
  cache.append(p, setup_.width_kv());
  return step_dot(pass, setup_, p, {cache});
}

bool PersistentAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  const int64_t n = p.queries->length(0), m = p.keys->length(0);
  // The memory in front of the context: the mask counts places from the end.
  Projected both = p;
  both.k = concatenate_rows(pass.ctx, {learned(pass).key, slice_columns(pass.ctx, p.k, p.k_column, setup_.width_kv())});
  both.k_column = 0;
  const Segments keys = Segments::single(size_ + m);
  both.keys = &keys;
  std::vector<float> all(static_cast<size_t>(setup_.heads * n * (size_ + m)));
  dot_weights(pass, setup_, both, mask_, all.data());
  for (int64_t row = 0; row < setup_.heads * n; ++row)
    std::copy_n(all.begin() + row * (size_ + m) + size_, m, out + row * m);
  return true;
}

double PersistentAttention::operations(const Parameters&, const Segments& queries, const Segments& keys) const {
  const auto to_memory = static_cast<double>(queries.rows()) * static_cast<double>(size_);
  return dot_operations(setup_, mask_, queries, keys) + 4 * static_cast<double>(setup_.width()) * to_memory;
}

}  // namespace attune
