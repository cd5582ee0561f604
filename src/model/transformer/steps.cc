// The Transformer's decoder one position at a time: it remembers what its layers attended to.
#include "base/error.h"
#include "model/transformer/state.h"
#include "model/transformer/transformer.h"

namespace attune {

std::unique_ptr<DecoderState> TransformerDecoder::start(Pass& pass, const Rows& source, const Encoded& encoded,
                                                        int64_t) const {
  if (prefixed_) return start_prefixed(pass, source);
  auto state = std::make_unique<TransformerState>();
  const int64_t rows = source.segments.count();
  state->sources = {{}, encoded.rows, encoded.own};
  for (const Block& b : blocks_) {
    state->memory.push_back(b.cross ? b.cross->memory(pass, encoded.x) : Var());
    state->said.push_back(b.self->state(rows));
    state->said.back()->use(pass.ctx.arena);
    state->attended.push_back(b.cross ? b.cross->mechanism->read_state(rows) : nullptr);
  }
  for (int32_t i = 0; i < rows; ++i) state->source_of.push_back(i);
  return state;
}

Var TransformerDecoder::step(Pass& pass, std::span<DecoderState* const> given, std::span<const int32_t> ids) const {
  // Each row is a sequence of its own, whose only token stands at the position of its state.
  std::vector<TransformerState*> states;
  std::vector<int32_t> positions;
  for (DecoderState* g : given) {
    auto* s = static_cast<TransformerState*>(g);
    states.push_back(s);
    positions.insert(positions.end(), static_cast<size_t>(s->rows()), static_cast<int32_t>(s->position));
  }
  check(positions.size() == ids.size(), "decode", "{} words for {} rows", ids.size(), positions.size());
  const Rows single = rows_of(ids, Segments::of_lengths(std::vector<int32_t>(ids.size(), 1)));
  const RowPositions where{&single.segments, positions};
  std::vector<StateShare> said(states.size());
  std::vector<MemoryShare> read(states.size());
  Stream y((*input_)(pass, single, positions).x);  // [rows, d_model]
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& b = blocks_[i];
    for (size_t s = 0; s < states.size(); ++s) {
      TransformerState& of = *states[s];
      said[s] = {of.said[i].get(), of.rows()};
      if (b.cross) read[s] = {&of.memory[i], &of.sources.rows->segments, of.source_of, of.attended[i].get()};
    }
    y.leave(pass, b.self_residual, b.self->step(pass, y.enter(pass, b.self_residual), where, said));
    if (b.cross) y.leave(pass, *b.cross_residual, b.cross->step(pass, y.enter(pass, *b.cross_residual), read));
    b.feed(pass, y);
  }
  for (TransformerState* s : states) ++s->position;
  return y.finish(pass, norm_.get());
}

void TransformerState::reorder(std::span<const int32_t> parents) {
  std::vector<int32_t> sources;
  for (const int32_t p : parents) check(p >= 0 && p < rows(), "decode", "row {} of {} can't be a parent", p, rows());
  for (const int32_t p : parents) sources.push_back(source_of[static_cast<size_t>(p)]);
  source_of = std::move(sources);
  for (auto& s : said) s->reorder(parents);
  for (auto& s : attended)
    if (s) s->reorder(parents);
}

int64_t TransformerState::bytes() const {
  int64_t sum = 0;
  for (const auto& s : said) sum += s->bytes();
  for (const auto& s : attended) sum += s ? s->bytes() : 0;
  for (const Var& m : memory)
    if (m) sum += m.value().size() * static_cast<int64_t>(sizeof(float));
  return sum;
}

}  // namespace attune
