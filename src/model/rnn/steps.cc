// The recurrent decoder one position at a time: a state a layer, and the weights by which the source was read last.
#include <numeric>

#include "autograd/operations/arrange.h"
#include "autograd/steps.h"
#include "base/error.h"
#include "model/rnn/rnn.h"

namespace attune {

namespace {

struct RnnState : DecoderState {
  void reorder(std::span<const int32_t> parents) override;
  int64_t rows() const override { return std::ssize(source_of); }
  int64_t bytes() const override;

  Encoded encoded;                         // which rows there were
  RecurrentSources sources;                // none where nothing is read
  std::vector<int32_t> source_of;          // per row
  std::vector<int64_t> widths;             // per layer
  std::vector<std::vector<float>> layers;  // per layer, [rows, width]
  std::vector<float> last;                 // weights, row after row; none before the first step
};

/// Where the weights of each row begin, and where they end.
std::vector<size_t> starts_of(const RnnState& s) {
  std::vector<size_t> starts{0};
  for (const int32_t source : s.source_of)
    starts.push_back(starts.back() + static_cast<size_t>(s.sources.segments->length(source)));
  return starts;
}

void RnnState::reorder(std::span<const int32_t> parents) {
  for (const int32_t p : parents) check(p >= 0 && p < rows(), "decode", "row {} of {} can't be a parent", p, rows());
  for (size_t l = 0; l < layers.size(); ++l) {
    std::vector<float> to;
    to.reserve(parents.size() * static_cast<size_t>(widths[l]));
    for (const int32_t p : parents)
      to.insert(to.end(), layers[l].begin() + p * widths[l], layers[l].begin() + (p + 1) * widths[l]);
    layers[l] = std::move(to);
  }
  if (!last.empty()) {
    const std::vector<size_t> starts = starts_of(*this);
    std::vector<float> to;
    for (const int32_t p : parents)
      to.insert(to.end(), last.begin() + static_cast<std::ptrdiff_t>(starts[static_cast<size_t>(p)]),
                last.begin() + static_cast<std::ptrdiff_t>(starts[static_cast<size_t>(p) + 1]));
    last = std::move(to);
  }
  std::vector<int32_t> to;
  for (const int32_t p : parents) to.push_back(source_of[static_cast<size_t>(p)]);
  source_of = std::move(to);
}

int64_t RnnState::bytes() const {
  auto numbers = std::ssize(last);
  for (const auto& l : layers) numbers += std::ssize(l);
  for (const Var& v : {sources.keys, sources.values})
    if (v) numbers += v.value().size();
  return numbers * static_cast<int64_t>(sizeof(float));
}

std::vector<float> numbers_of(const Var& x) {
  return {x.value().as<float>(), x.value().as<float>() + x.value().size()};
}

/// The states of a layer, of all rows, one below another.
Var rows_of_all(Ctx& ctx, std::span<RnnState* const> states, size_t layer, int64_t rows, int64_t width) {
  const Var all = ctx.make(Shape{rows, width}, DType::f32, {});
  float* to = all.value().as<float>();
  for (const RnnState* s : states) to = std::copy(s->layers[layer].begin(), s->layers[layer].end(), to);
  return all;
}

/// Gives each its own again.
void put_states_back(std::span<RnnState* const> states, size_t layer, const Var& all) {
  const float* from = all.value().as<float>();
  for (RnnState* s : states) {
    const size_t size = s->layers[layer].size();
    s->layers[layer].assign(from, from + size);
    from += size;
  }
}

}  // namespace

std::unique_ptr<DecoderState> RnnDecoder::start(Pass& pass, const Rows& source, const Encoded& encoded, int64_t) const {
  auto state = std::make_unique<RnnState>();
  state->encoded = {{}, encoded.rows, encoded.own};
  state->source_of.resize(static_cast<size_t>(source.segments.count()));
  std::iota(state->source_of.begin(), state->source_of.end(), 0);
  if (attention_) state->sources = attention_->sources(pass, encoded.x, encoded.rows->segments);
  for (const Layer& l : layers_) {
    const int64_t width = l.cell->state_width();
    state->widths.push_back(width);
    const Var first = first_state(pass, l, encoded);
    state->layers.push_back(first ? numbers_of(first) : std::vector<float>(static_cast<size_t>(state->rows() * width)));
  }
  return state;
}

Var RnnDecoder::step(Pass& pass, std::span<DecoderState* const> given, std::span<const int32_t> ids) const {
  Ctx& ctx = pass.ctx;
  std::vector<RnnState*> states;
  int64_t rows = 0;
  for (DecoderState* g : given) {
    states.push_back(static_cast<RnnState*>(g));
    rows += g->rows();
  }
  check(rows == std::ssize(ids), "decode", "{} words for {} rows", ids.size(), rows);
  const Rows single = rows_of(ids, Segments::of_lengths(std::vector<int32_t>(ids.size(), 1)));
  std::vector<int32_t> index(ids.size());
  std::iota(index.begin(), index.end(), 0);
  const Var input = (*input_)(pass, single).x;  // [rows, d_model]
  const bool tapped = attention_ && pass.tap && pass.tap->place == place_;
  if (tapped) *pass.tap = {place_, 1, 0, 0, {}};

  Var x = input, context;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const Cell& cell = *layers_[l].cell;
    const Var before = rows_of_all(ctx, states, l, rows, cell.state_width());
    Var gates = cell.gates(pass, x);
    if (l == 0 && attention_) {
      std::vector<Var> read;  // of each state: they have sources of their own
      int64_t first = 0;
      for (RnnState* s : states) {
        const auto count = static_cast<size_t>(s->rows());
        const Var asks = ctx.input(before.value().row_range(first, s->rows()));
        const Var last = s->last.empty() ? Var() : ctx.input(Tensor(s->last.data(), Shape{std::ssize(s->last), 1}));
        const auto ask = attention_->steps(pass, s->sources, s->rows());
        const StepRead got = (*ask)(ctx, {asks, std::span(index).first(count), s->source_of, last});
        s->last = numbers_of(got.weights);
        if (tapped) pass.tap->weights.insert(pass.tap->weights.end(), s->last.begin(), s->last.end());
        read.push_back(got.context);
        first += s->rows();
      }
      context = read.size() == 1 ? read.front() : concatenate_rows(ctx, read);
      gates = StepLinear::onto(ctx, gates, pass[context_])(ctx, context, index);
    }
    const Var after = (*cell.steps(pass, rows))(ctx, gates, before, index);
    put_states_back(states, l, after);
    x = cell.output(pass, after);
  }
  return readout(pass, x, input, context);
}

}  // namespace attune
