// Where each section of "Attention Is All You Need" is:
//   3.1    encoder and decoder stacks         here; one block of them: block.cc
//   3.1    residual connections, layer norm   model/layers/residual.h
//   3.2.1  scaled dot-product attention       model/attention/softmax.cc, kernels' attention
//   3.2.2  multi-head attention               model/attention/multi_head.cc
//   3.2.3  its three uses                     block.cc: self-attention of both sides, attention to the encoder
//   3.3    position-wise feed-forward         model/layers/feed_forward.cc
//   3.4    embeddings and softmax             model/input/embed.h; the output: Model::logits in model/model.cc
//   3.5    positional encoding                model/position/sinusoidal.h
//   5.3    optimizer and its warm-up          train/optimizer/adam.h, train/schedule.cc
//   5.4    dropout, label smoothing           residual.h and input.cc; autograd's output_loss
#include "model/transformer/transformer.h"

#include "base/error.h"

namespace attune {

// --- 3.1 Encoder and decoder stacks ----------------------------------------------------------------------------------

namespace {

void add_blocks(std::vector<Block>& blocks, const SideSetup& s, const Blueprint& b, const Input& input, bool decoder) {
  const ModelOptions& o = s.options;
  check(o.d_model % o.heads == 0, "model", "d_model = {} is not a multiple of heads = {}", o.d_model, o.heads);
  const int64_t layers = decoder ? o.decoder_layers : o.encoder_layers;
  for (int l = 0; l < layers; ++l) blocks.emplace_back(s, b.at(std::to_string(l)), l, input, decoder);
}

std::unique_ptr<LayerNorm> last_norm(const ModelOptions& o, const Blueprint& b) {
  return o.norm == NormPlace::pre ? std::make_unique<LayerNorm>(b.at("norm"), o.d_model) : nullptr;
}

double weights_of_blocks(const std::vector<Block>& blocks) {
  double sum = 0;
  for (const Block& b : blocks) sum += b.multiplied_weights();
  return sum;
}

}  // namespace

TransformerEncoder::TransformerEncoder(const SideSetup& s, const Blueprint& b)
    : d_model_(s.options.d_model), input_(make_input({s}, b)) {
  add_blocks(blocks_, s, b, *input_, false);
  own_rows_ = StackOwnRows::of(blocks_, b, d_model_);
  norm_ = last_norm(s.options, b);
}

Encoded TransformerEncoder::encode(Pass& pass, const Rows& source) const {
  pass.ctx.first_row = source.first_row;
  Encoded rows = (*input_)(pass, source);  // [n, d_model]
  const Encoded all = own_rows_ ? own_rows_->with(pass, rows) : rows;
  {
    const RowsAtHand at_hand(pass, *all.rows);
    StackRows x(all.x);
    for (const Block& b : blocks_) b.recomputed(pass, {all.rows->segments}, x);
    rows.x = x.stream.finish(pass, norm_.get());
  }
  if (!own_rows_) return rows;
  pass.ctx.first_row = rows.rows->first_row;
  rows.x = own_rows_->without(pass, rows.x, all.rows->segments, rows.rows->rows());
  if (pass.tap && pass.tap->place.starts_with(stack())) own_rows_->without(*pass.tap);
  return rows;
}

TransformerDecoder::TransformerDecoder(const SideSetup& s, const Blueprint& b)
    : d_model_(s.options.d_model),
      cross_heads_(s.options.cross_heads ? s.options.cross_heads : s.options.heads),
      prefixed_(s.options.shape == ModelShape::prefix),
      reads_(prefixed_ || s.read_width > 0),
      input_(make_input({s, true}, b)) {
  add_blocks(blocks_, s, b, *input_, true);
  norm_ = last_norm(s.options, b);
}

Var TransformerDecoder::decode(Pass& pass, const Rows& source, const Encoded& encoded, const Rows& read) const {
  return prefixed_ && source.segments.count() > 0 ? decode_prefixed(pass, source, read) : run(pass, read, encoded);
}

Var TransformerDecoder::run(Pass& pass, const Rows& read, const Encoded& encoded) const {
  const RowsAtHand at_hand(pass, read);
  StackRows y((*input_)(pass, read).x);  // [m, d_model]
  for (const Block& b : blocks_) b.recomputed(pass, {read.segments, &encoded}, y);
  return y.stream.finish(pass, norm_.get());
}

bool TransformerDecoder::can_be_guided(int64_t layer) const {
  const auto& cross = blocks_[static_cast<size_t>(layer)].cross;
  return cross && cross->mechanism->can_be_guided();
}

// --- Around an update, and what it costs -----------------------------------------------------------------------------

void TransformerEncoder::after_update(Parameters& parameters, const Gradients& gathered) const {
  for (const Block& b : blocks_) b.self->after_update(parameters, gathered);
}

void TransformerDecoder::after_update(Parameters& parameters, const Gradients& gathered) const {
  for (const Block& b : blocks_) {
    b.self->after_update(parameters, gathered);
    if (b.cross) b.cross->mechanism->after_update(parameters, gathered);
  }
}

double TransformerEncoder::operations_of(const Parameters& parameters, const Segments& sequences) const {
  const Segments all = own_rows_ ? own_rows_->with(sequences) : sequences;
  double sum = 0;
  for (const Block& b : blocks_) sum += b.self->operations(parameters, all, all);
  return sum;
}

double TransformerEncoder::mixing_operations(const Parameters& parameters, const Segments& sources) const {
  if (const double share = input_->rows_per_row(); share != 1) {
    std::vector<int32_t> lengths;
    for (int64_t i = 0; i < sources.count(); ++i)
      lengths.push_back(static_cast<int32_t>(share * static_cast<double>(sources.length(i)) + 0.5));
    return operations_of(parameters, Segments::of_lengths(lengths));
  }
  return operations_of(parameters, sources);
}

namespace {

/// The sequences with so many rows in front of each.
template <class RowsBefore>
Segments with_past(const Segments& s, const RowsBefore& before) {
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < s.count(); ++i) lengths.push_back(static_cast<int32_t>(s.length(i) + before(i)));
  return Segments::of_lengths(lengths);
}

}  // namespace

double TransformerDecoder::mixing_operations(const Parameters& parameters, const DecodedRows& rows) const {
  if (prefixed_ && rows.sources) {
    const Segments both = with_past(rows.targets, [&](int64_t i) { return rows.sources->length(i); });
    return mixing_operations(parameters, {nullptr, both});
  }
  double sum = 0;
  for (const Block& b : blocks_) {
    const int64_t memory = rows.streams ? b.self->memory() : 0;
    sum += b.self->operations(parameters, rows.targets,
                              memory > 0 ? with_past(rows.targets, [&](int64_t) { return memory; }) : rows.targets);
    if (b.cross) sum += b.cross->mechanism->operations(parameters, rows.targets, *rows.sources);
  }
  return sum;
}

double TransformerEncoder::multiplied_weights(double share) const {
  return share * weights_of_blocks(blocks_) * input_->rows_per_row() + input_->multiplied_weights();
}

MultipliedWeights TransformerDecoder::multiplied_weights(double share) const {
  MultipliedWeights m{0, share * weights_of_blocks(blocks_)};
  if (prefixed_) m.source = m.target;
  for (const Block& b : blocks_) {
    if (!b.cross) continue;
    const MultipliedWeights cross = b.cross->multiplied_weights();
    m.source += share * cross.source;  // keys and values
    m.target += share * cross.target;  // queries and output
  }
  return m;
}

}  // namespace attune
