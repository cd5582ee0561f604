#include "model/attention/sparse/longformer.h"

#include "autograd/operations/arrange.h"
#include "model/attention/multi_head.h"
#include "model/attention/rehearsed.h"

namespace attune {

namespace {

std::vector<JoinedLinear::Part> three(const AttentionSetup& s) {
  return {{"query", s.width()}, {"key", s.width_kv()}, {"value", s.width_kv()}};
}

}  // namespace

LongformerAttention::LongformerAttention(const Options& o, const AttentionSetup& s, const Blueprint& b)
    : SparseAttention(o.atoms(), 64, 0, s, b),
      global_(o.global),
      mask_(s.causal ? Mask::past() : Mask::none()),
      near_(b, three(s), s.width(), s.projection()),
      query_(b.at("global"), {{"query", s.width()}}, s.width(), s.projection()),
      key_value_(b.at("global"), {{"key", s.width_kv()}, {"value", s.width_kv()}}, s.width(), s.projection()),
      output_(b.at("output"), s.width(), s.width()) {}

/// The first rows of every sequence, and where a row's result is: among those of all rows, or of these behind them.
struct LongformerAttention::First {
  Segments few;
  std::vector<int32_t> rows, result;
  std::vector<int32_t> places;  // of those rows, where rows have them

  First(const Segments& all, int64_t global, const Tensor& where) {
    for (int64_t s = 0; s < all.count(); ++s) {
      const int64_t first = all.begin(s), count = std::min(global, all.length(s));
      for (int64_t i = 0; i < all.length(s); ++i)
        result.push_back(static_cast<int32_t>(i < count ? all.rows() + std::ssize(rows) + i : first + i));
      for (int64_t i = first; i < first + count; ++i) {
        rows.push_back(static_cast<int32_t>(i));
        if (where) places.insert(places.end(), where.row<int32_t>(i), where.row<int32_t>(i) + where.cols());
      }
      few.add(count);
    }
  }
};

Var LongformerAttention::attend(const Pass& pass, const SelfAttention& layer, const Var& x, const Segments& segments,
                                Carried&) const {
  Ctx& ctx = pass.ctx;
  const auto rehearsed = rehearsed_segments(ctx, segments, 4 * global_);  // not shorter, about
  const Segments& all = rehearsed ? *rehearsed : segments;
  const Tensor where = rehearsed ? Tensor() : pass.places();
  const auto first = keep(ctx, First(all, global_, where));
  const auto ids = [&](const std::vector<int32_t>& of) { return ctx.input(Tensor(of.data(), Shape{std::ssize(of)})); };

  const Var qkv = near_(pass, x);
  const int64_t k = setup_.width(), v = k + setup_.width_kv();
  const RowPositions everywhere{&all, {}, where};
  const RowPositions each{&segments, {}, where};
  const Projected near = layer.placed(pass, {qkv, qkv, qkv, 0, k, v, &segments, &segments}, each, each);

  const Var x_first = gather_rows(ctx, x, ids(first->rows));
  const Var kv = key_value_(pass, setup_.causal ? x_first : x);
  const RowPositions begin{
      &first->few, {}, where ? Tensor(first->places.data(), Shape{std::ssize(first->rows), where.cols()}) : Tensor()};
  const Segments* keys = setup_.causal ? &first->few : &all;
  const Projected global =
      layer.placed(pass, {query_(pass, x_first), kv, kv, 0, 0, setup_.width_kv(), &first->few, keys}, begin,
                   setup_.causal ? begin : everywhere);

  if (float* to = layer.tapped(pass, x.rows(), x.rows())) look(pass, near, global, to);
  const Var y = concatenate_rows(ctx, {mix(pass, near), attention(ctx, dot_attention(pass, setup_, global, mask_))});
  return output_(pass, gather_rows(ctx, y, ids(first->result)));
}

/// Of one sequence: the rows of the window, and over the first of them what the global ones see.
void LongformerAttention::look(const Pass& pass, const Projected& near, const Projected& global, float* out) const {
  weights(pass, near, out);
  const int64_t n = near.queries->rows(), few = global.queries->rows(), keys = global.keys->rows();
  std::vector<float> w(static_cast<size_t>(setup_.heads * few * keys));
  dot_weights(pass, setup_, global, mask_, w.data());
  for (int64_t h = 0; h < setup_.heads; ++h)
    for (int64_t i = 0; i < few; ++i) {
      float* row = out + (h * n + i) * n;
      std::fill_n(row, n, 0.0f);
      std::copy_n(w.begin() + (h * few + i) * keys, keys, row);
    }
}

// --- One position at a time ------------------------------------------------------------------------------------------

/// The window's keys, and those of the global ones for each other.
struct LongformerAttention::State : AttentionState {
  std::unique_ptr<AttentionState> near;
  KeyCache global;
  int64_t steps = 0;
  int64_t most;  // global positions: behind them their keys are read no more
  State(std::unique_ptr<AttentionState> n, int64_t rows, int64_t width, int64_t globals)
      : near(std::move(n)), global(rows, width, globals), most(globals) {}
  void reorder(std::span<const int32_t> parents) override {
    near->reorder(parents);
    if (steps < most) global.reorder(parents);
  }
  int64_t bytes() const override { return near->bytes() + global.bytes(); }
  void use(Arena& arena) override {
    near->use(arena);
    global.use(arena);
  }
};

std::unique_ptr<AttentionState> LongformerAttention::state(int64_t rows) const {
  return std::make_unique<State>(SparseAttention::state(rows), rows, 2 * setup_.width_kv(), global_);
}

Var LongformerAttention::attend_step(const Pass& pass, const SelfAttention& layer, const Var& x,
                                     const RowPositions& where, AttentionState& state) const {
  auto& s = static_cast<State&>(state);
  const Var qkv = near_(pass, x);
  const int64_t k = setup_.width(), v = k + setup_.width_kv();
  Var y = step(pass, layer.placed(pass, {qkv, qkv, qkv, 0, k, v}, where, where), *s.near);
  if (s.steps++ < global_) {  // its own row is another's, but the window has taken up its key and value
    const Var kv = key_value_(pass, x);
    const Projected p = layer.placed(pass, {query_(pass, x), kv, kv, 0, 0, setup_.width_kv()}, where, where);
    s.global.append(p, setup_.width_kv());
    y = step_dot(pass, setup_, p, {.cache = s.global});
  }
  return output_(pass, y);
}

double LongformerAttention::operations(const Parameters& parameters, const Segments& queries,
                                       const Segments& keys) const {
  double pairs = 0;
  for (int64_t s = 0; s < queries.count(); ++s) {
    const int64_t n = queries.length(s), few = std::min(global_, n);
    pairs += static_cast<double>(few) * static_cast<double>(setup_.causal ? few : n);
  }
  return SparseAttention::operations(parameters, queries, keys) + 4 * static_cast<double>(setup_.width()) * pairs;
}

}  // namespace attune
