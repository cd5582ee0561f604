#include "model/attention/transformer_xl.h"

#include "autograd/operations/arrange.h"
#include "model/attention/multi_head.h"
#include "model/stream_memory.h"

namespace attune {

TransformerXlAttention::TransformerXlAttention(const Options& o, const AttentionSetup& s, const Blueprint& place)
    : setup_(s),
      mask_(s.causal ? Mask::past() : Mask::none()),
      memory_(o.memory),
      query_(place, {{"query", s.width()}}, s.width(), s.projection()),
      key_value_(place, {{"key", s.width_kv()}, {"value", s.width_kv()}}, s.width(), s.projection()),
      output_(place.at("output"), s.width(), s.width()),
      slot_(place.memory(o.memory, s.width())) {}

Var TransformerXlAttention::mix(const Pass& pass, const Projected& p) const {
  return attention(pass.ctx, dot_attention(pass, setup_, p, mask_));
}

Projected TransformerXlAttention::project(const Pass& pass, const Var& x, const Var& all) const {
  const Var kv = key_value_(pass, all);
  return {query_(pass, x), kv, kv, 0, 0, setup_.width_kv()};
}

// --- A window of each stream -----------------------------------------------------------------------------------------

namespace {

/// The windows with what is remembered in front of each.
struct Extended {
  Segments keys;
  std::vector<int32_t> remembered;  // rows before each window
  std::vector<int32_t> order;       // its rows among [all memories; all windows]
  int64_t past = 0;                 // rows of all memories
};

Extended extended(const Pass& pass, int slot, const Segments& windows) {
  Extended e;
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < windows.count(); ++i) {
    const bool alone = !pass.memory || pass.streams().empty();
    const int64_t old = alone ? 0 : pass.memory->count(slot, pass.streams()[static_cast<size_t>(i)]);
    e.remembered.push_back(static_cast<int32_t>(old));
    lengths.push_back(static_cast<int32_t>(old + windows.length(i)));
    e.past += old;
  }
  e.keys = Segments::of_lengths(lengths);
  int32_t memory = 0, own = static_cast<int32_t>(e.past);
  for (int64_t i = 0; i < windows.count(); ++i) {
    for (int32_t j = 0; j < e.remembered[static_cast<size_t>(i)]; ++j) e.order.push_back(memory++);
    for (int64_t j = 0; j < windows.length(i); ++j) e.order.push_back(own++);
  }
  return e;
}

/// SG(m) of all windows; then their own rows are what is remembered.
Var exchange(const Pass& pass, int slot, const Var& x, const Segments& windows, const Extended& e) {
  const Var memory = pass.ctx.make(Shape{e.past, x.cols()}, x.dtype(), {});
  if (!pass.memory || pass.streams().empty()) return memory;
  pass.ctx.run([&] {
    for (int64_t i = 0, from = 0; i < windows.count(); ++i) {
      const int32_t stream = pass.streams()[static_cast<size_t>(i)], old = e.remembered[static_cast<size_t>(i)];
      pass.memory->recall(slot, stream, memory.value().row_range(from, old));
      if (pass.remembers) pass.memory->remember(slot, stream, x.value().row_range(windows.begin(i), windows.length(i)));
      from += old;
    }
  });
  return memory;
}

}  // namespace

Var TransformerXlAttention::attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& windows,
                                   Carried&) const {
  Ctx& ctx = pass.ctx;
  const auto e = keep(ctx, extended(pass, slot_, windows));
  const Var ids = ctx.input(Tensor(e->order.data(), Shape{e->keys.rows()}));
  const Var all = gather_rows(ctx, concatenate_rows(ctx, {exchange(pass, slot_, x, windows, *e), x}), ids);
  Projected p = project(pass, x, all);
  p.queries = &windows;
  p.keys = &e->keys;
  p = layer.placed(pass, p, {&windows, e->remembered}, {&e->keys});
  layer.look(pass, p);
  return output_(pass, mix(pass, p));
}

// --- One position at a time ------------------------------------------------------------------------------------------

std::unique_ptr<AttentionState> TransformerXlAttention::state(int64_t rows) const {
  return std::make_unique<KeyCache>(rows, 2 * setup_.width_kv());
}

Var TransformerXlAttention::attend_step(const Pass& pass, const SelfAttention& layer, const Var& x,
                                        const RowPositions& where, AttentionState& state) const {
  return output_(pass, step(pass, layer.placed(pass, project(pass, x, x), where, where), state));
}

Var TransformerXlAttention::step(const Pass& pass, const Projected& p, AttentionState& state) const {
  auto& cache = static_cast<KeyCache&>(state);
  cache.append(p, setup_.width_kv());
  return step_dot(pass, setup_, p, {cache});
}

// --- For people ------------------------------------------------------------------------------------------------------

bool TransformerXlAttention::weights(const Pass& pass, const Projected& p, float* out) const {
  dot_weights(pass, setup_, p, mask_, out);
  return true;
}

double TransformerXlAttention::operations(const Parameters&, const Segments& queries, const Segments& keys) const {
  double remembered = 0;
  for (int64_t i = 0; i < queries.count(); ++i)
    remembered += static_cast<double>(queries.length(i)) * static_cast<double>(keys.length(i) - queries.length(i));
  return dot_operations(setup_, mask_, queries, queries) + 4 * static_cast<double>(setup_.width()) * remembered;
}

}  // namespace attune
