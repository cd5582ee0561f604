#include <algorithm>

#include "autograd/operations/arrange.h"
#include "autograd/operations/pool.h"
#include "autograd/steps.h"
#include "base/error.h"
#include "model/rnn/rnn.h"

namespace attune {

namespace {

/// What the decoder asks by: the one that the recipe names, or the paper's.
Choice recurrent_attention_of(const ModelOptions& o) {
  if (o.cross_attention.empty()) return {"additive"};
  if (o.cross_attention.size() > 1)
    fail(ErrorKind::recipe,
         "model.cross_attention names {} kinds, and only the first layer of a recurrent decoder reads the source\n"
         "  fix: name one",
         o.cross_attention.size());
  return o.cross_attention.front();
}

}  // namespace

RnnDecoder::RnnDecoder(const RnnOptions& options, const SideSetup& s, const Blueprint& b)
    : width_(s.options.d_model),
      read_width_(s.read_width),
      rate_(static_cast<float>(s.options.dropout)),
      place_(b.at("0").at("cross").name()) {
  if (s.options.shape == ModelShape::prefix)
    fail(ErrorKind::recipe,
         "model.shape = \"prefix\" reads the source as a decoder whose rows attend to each other, and {} = \"rnn\" has "
         "none\n  fix: set model.shape = \"encoder-decoder\"",
         s.key);
  input_ = recurrent_input({s, true}, b);
  for (int64_t l = 0; l < s.options.decoder_layers; ++l) {
    const Blueprint place = b.at(std::to_string(l));
    Layer layer{make_cell(options.cell, {width_, width_}, place, s.key + ".cell"), nullptr, b.site()};
    if (read_width_ > 0)
      layer.first = std::make_unique<Linear>(place.at("first"), layer.cell->state_width(), read_width_);
    layers_.push_back(std::move(layer));
  }
  if (read_width_ > 0) {
    const int64_t gates = layers_.front().cell->gate_columns();
    context_ = b.at("0").matrix("context.weight", gates, read_width_, Init::xavier(read_width_, width_));
    attention_ = make_recurrent_attention(recurrent_attention_of(s.options),
                                          {layers_.front().cell->state_width(), read_width_, width_},
                                          b.at("0").at("cross"), "model.cross_attention");
  }
  readout_ = std::make_unique<Linear>(b.at("readout"), width_, 2 * width_ + read_width_);
  readout_site_ = b.site();
}

Var RnnDecoder::first_state(const Pass& pass, const Layer& layer, const Encoded& encoded) const {
  if (!layer.first) return {};
  return (*layer.first)(pass, segment_mean(pass.ctx, encoded.x, encoded.rows->segments), Activation::tanh);
}

Var RnnDecoder::readout(const Pass& pass, const Var& state, const Var& input, const Var& context) const {
  const Var all =
      context ? concatenate_columns(pass.ctx, {state, input, context}) : concatenate_columns(pass.ctx, {state, input});
  return dropped(pass, (*readout_)(pass, all, Activation::tanh), rate_, readout_site_);
}

// --- all positions: the first layer step by step, those above it in one operation each -------------------------------

Var RnnDecoder::decode(Pass& pass, const Rows&, const Encoded& encoded, const Rows& read) const {
  const RowsAtHand at_hand(pass, read);
  const Var input = (*input_)(pass, read).x;  // [m, d_model]
  const auto order = keep(pass.ctx, StepOrder(read.segments));
  Var x = input, context;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const Var gates = layer.cell->gates(pass, x);
    if (l == 0 && attention_) {
      Attended a = attend(pass, read, encoded, gates, order);
      x = std::move(a.x);
      context = std::move(a.context);
    } else {
      x = layer.cell->run(pass, gates, first_state(pass, layer, encoded), order);
    }
    if (l + 1 < layers_.size()) x = dropped(pass, x, rate_, layer.site);
  }
  return readout(pass, x, input, context);
}

RnnDecoder::Attended RnnDecoder::attend(const Pass& pass, const Rows& read, const Encoded& encoded, const Var& gates,
                                        const std::shared_ptr<const StepOrder>& order) const {
  Ctx& ctx = pass.ctx;
  const Layer& layer = layers_.front();
  const int64_t rows = read.rows();
  const Segments& segments = encoded.rows->segments;
  const auto ask = attention_->steps(pass, attention_->sources(pass, encoded.x, segments), rows);
  const StepLinear add_context = StepLinear::onto(ctx, gates, pass[context_]);
  const auto cell = layer.cell->steps(pass, rows);
  StepRows outputs(ctx, rows, width_, gates.dtype()), contexts(ctx, rows, read_width_, gates.dtype());
  const bool tapped = pass.tap && pass.tap->place == place_;
  if (tapped) *pass.tap = {place_, 1, rows, segments.rows(), {}};
  const Var ids = ctx.input(Tensor(order->order.data(), Shape{std::ssize(order->order)}));
  Var state = gather_rows(ctx, first_state(pass, layer, encoded), ids), last;
  size_t from = 0;
  for (int64_t t = 0; t < order->steps(); ++t) {
    const auto sequences = order->sequences(t);
    const auto index = std::span(order->row).subspan(from, sequences.size());
    const StepRead got = (*ask)(ctx, {state, index, sequences, last});
    state = (*cell)(ctx, add_context(ctx, got.context, index), state, index);
    last = got.weights;
    outputs.put(ctx, layer.cell->output(pass, state), index);
    contexts.put(ctx, got.context, index);
    if (tapped)
      pass.tap->weights.insert(pass.tap->weights.end(), last.value().as<float>(),
                               last.value().as<float>() + last.rows());
    from += sequences.size();
  }
  return {outputs.all(), contexts.all()};
}

// --- what it costs ---------------------------------------------------------------------------------------------------

double RnnDecoder::mixing_operations(const Parameters&, const DecodedRows& rows) const {
  if (!attention_) return 0;
  double pairs = 0;
  for (int64_t i = 0; i < rows.targets.count(); ++i)
    pairs += static_cast<double>(rows.targets.length(i)) * static_cast<double>(rows.sources->length(i));
  return attention_->operations_per_pair() * pairs;
}

MultipliedWeights RnnDecoder::multiplied_weights(double share) const {
  const auto width = static_cast<double>(width_), read = static_cast<double>(read_width_);
  MultipliedWeights m;
  m.target = width * (2 * width + read);
  for (const Layer& l : layers_) m.target += l.cell->multiplied_weights();
  if (attention_) {
    m.target += attention_->target_weights() + static_cast<double>(layers_.front().cell->gate_columns()) * read;
    m.source = attention_->source_weights();
  }
  return {share * m.source, share * m.target};
}

}  // namespace attune
