// The Transformer beside its formulas: decoding one position at a time, remembering what it attended to, and what
// mechanisms do around an update.
#include "base/error.h"
#include "model/transformer.h"

namespace attune {

DecoderState Transformer::start(Pass& pass, const Var& encoded, const Segments& sources, std::vector<int32_t> source_of,
                                int64_t longest) const {
  DecoderState state;
  state.sources_ = &sources;
  for (const Layer& l : decoder_) {
    state.memory_.push_back(l.cross ? l.cross->memory(pass, encoded) : Var());
    state.states_.push_back(l.self.mechanism->state(static_cast<int64_t>(source_of.size()), longest));
    state.states_.back()->use(pass.ctx.arena);
  }
  state.source_of_ = std::move(source_of);
  return state;
}

DecoderState Transformer::start_after(Pass& pass, const Tokens& source, int64_t longest) const {
  DecoderState state;
  const Segments& rows = *source.segments;
  check(rows.count() == 1, "decode", "{} sources for one row", rows.count());
  const auto length = static_cast<int32_t>(rows.length(0));
  pass.prefix = &length;
  Stream y(embed_rows(pass, *target_, source, {}));  // [n, d_model]
  for (const Layer& l : decoder_) {
    state.memory_.emplace_back();
    AttentionState& said = *state.states_.emplace_back(l.self.mechanism->state(1, length + longest));
    said.use(pass.ctx.arena);
    const Projected p = l.self.project(pass, y.enter(pass, l.self_residual), &rows, {&rows, {}});
    l.self.mechanism->take(pass, p, said);
    if (&l == &decoder_.back()) break;  // the rest would be of nothing that is said
    y.leave(pass, l.self_residual, (*l.self.output)(pass, l.self.mechanism->mix(pass, p)));
    if (l.feed_forward)
      y.leave(pass, *l.feed_forward_residual, (*l.feed_forward)(pass, y.enter(pass, *l.feed_forward_residual)));
  }
  pass.prefix = nullptr;
  state.source_of_ = {0};
  state.position_ = length;
  return state;
}

Var Transformer::step(Pass& pass, DecoderState& state, std::span<const int32_t> ids) const {
  DecoderState* one = &state;
  return step(pass, {&one, 1}, ids);
}

Var Transformer::step(Pass& pass, std::span<DecoderState* const> states, std::span<const int32_t> ids) const {
  const auto rows = static_cast<int64_t>(ids.size());
  // Each row is a sequence of its own, whose only token stands at the position of its state.
  std::vector<int32_t> positions;
  for (const DecoderState* s : states)
    positions.insert(positions.end(), static_cast<size_t>(s->rows()), static_cast<int32_t>(s->position_));
  check(std::ssize(positions) == rows, "decode", "{} words for {} rows", rows, positions.size());
  const Segments single = Segments::of_lengths(std::vector<int32_t>(ids.size(), 1));
  const RowPositions where{&single, positions};
  std::vector<StateShare> said(states.size());
  std::vector<MemoryShare> read(states.size());
  Stream y(embed_rows(pass, *target_, {Tensor(ids.data(), Shape{rows}), &single}, positions));  // [rows, d_model]
  for (size_t i = 0; i < decoder_.size(); ++i) {
    const Layer& l = decoder_[i];
    for (size_t s = 0; s < states.size(); ++s) {
      said[s] = {states[s]->states_[i].get(), states[s]->rows()};
      read[s] = {&states[s]->memory_[i], states[s]->sources_, states[s]->source_of_};
    }
    y.leave(pass, l.self_residual, l.self.step(pass, y.enter(pass, l.self_residual), where, said));
    if (l.cross) y.leave(pass, *l.cross_residual, l.cross->step(pass, y.enter(pass, *l.cross_residual), read));
    if (l.feed_forward)
      y.leave(pass, *l.feed_forward_residual, (*l.feed_forward)(pass, y.enter(pass, *l.feed_forward_residual)));
  }
  for (DecoderState* s : states) ++s->position_;
  return y.finish(pass, decoder_norm_.get());
}

void DecoderState::reorder(std::span<const int32_t> parents) {
  std::vector<int32_t> source_of;
  for (const int32_t p : parents) check(p >= 0 && p < rows(), "decode", "row {} of {} can't be a parent", p, rows());
  for (const int32_t p : parents) source_of.push_back(source_of_[static_cast<size_t>(p)]);
  source_of_ = std::move(source_of);
  for (auto& s : states_) s->reorder(parents);
}

int64_t DecoderState::bytes() const {
  int64_t sum = 0;
  for (const auto& s : states_) sum += s->bytes();
  for (const Var& m : memory_)
    if (m) sum += m.value().size() * static_cast<int64_t>(sizeof(float));
  return sum;
}

void Transformer::after_update(const Gradients& gathered) {
  for (const auto* stack : {&encoder_, &decoder_})
    for (const Layer& l : *stack) {
      l.self.mechanism->after_update(parameters_, gathered);
      if (l.cross) l.cross->mechanism->after_update(parameters_, gathered);
    }
}

namespace {

/// The windows with the rows in front of each that a mechanism remembers.
Segments with_past(const Segments& windows, int64_t rows) {
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < windows.count(); ++i) lengths.push_back(static_cast<int32_t>(windows.length(i) + rows));
  return Segments::of_lengths(lengths);
}

}  // namespace

double Transformer::mixing_operations(const Segments* sources, const Segments& targets, bool streams) const {
  double sum = 0;
  if (sources && options_.shape == ModelShape::prefix) {
    std::vector<int32_t> lengths;
    for (int64_t i = 0; i < targets.count(); ++i)
      lengths.push_back(static_cast<int32_t>(sources->length(i) + targets.length(i)));
    return mixing_operations(nullptr, Segments::of_lengths(lengths), false);
  }
  if (sources)
    for (const Layer& l : encoder_) sum += l.self.mechanism->operations(parameters_, *sources, *sources);
  for (const Layer& l : decoder_) {
    const AttentionMechanism& self = *l.self.mechanism;
    const bool past = streams && self.memory() > 0;
    sum += past ? self.operations(parameters_, targets, with_past(targets, self.memory()))
                : self.operations(parameters_, targets, targets);
    if (l.cross) sum += l.cross->mechanism->operations(parameters_, targets, *sources);
  }
  return sum;
}

}  // namespace attune
