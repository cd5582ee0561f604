#include "autograd/operations/arrange.h"
#include "base/error.h"
#include "model/rnn/rnn.h"

namespace attune {

std::unique_ptr<Input> recurrent_input(const InputSetup& s, const Blueprint& b) {
  ModelOptions o = s.side.options;
  o.position = {"none"};
  o.encoder_position = o.decoder_position = {};
  SideSetup side{o, s.side.sizes, s.side.kind, s.side.key, s.side.table, s.side.read_width};
  return make_input({side, s.decoder}, b);
}

RnnEncoder::RnnEncoder(const RnnOptions& options, const SideSetup& s, const Blueprint& b)
    : width_(s.options.d_model * (options.bidirectional ? 2 : 1)), rate_(static_cast<float>(s.options.dropout)) {
  if (s.options.head.kind == "words" && options.bidirectional)
    fail(ErrorKind::recipe,
         "model.head = \"words\" tells words by the encoder's own vectors, and {} = \"rnn\" puts out {} numbers, not "
         "d_model = {}\n  fix: another model.kind, or {{ kind = \"rnn\", bidirectional = false }}",
         s.key, width_, s.options.d_model);
  input_ = recurrent_input({s}, b);
  int64_t in = s.options.d_model;
  for (int64_t l = 0; l < s.options.encoder_layers; ++l) {
    const Blueprint place = b.at(std::to_string(l));
    const CellSetup setup{in, s.options.d_model};
    Layer layer{make_cell(options.cell, setup, place.at("forward"), s.key + ".cell"), nullptr, b.site()};
    if (options.bidirectional) layer.backward = make_cell(options.cell, setup, place.at("backward"), s.key + ".cell");
    layers_.push_back(std::move(layer));
    in = width_;
  }
}

Encoded RnnEncoder::encode(Pass& pass, const Rows& source) const {
  Ctx& ctx = pass.ctx;
  ctx.first_row = source.first_row;
  Encoded rows = (*input_)(pass, source);  // [n, d_model]
  const RowsAtHand at_hand(pass, *rows.rows);
  const Segments& segments = rows.rows->segments;
  const auto onwards = std::make_shared<const StepOrder>(segments);
  const auto back = std::make_shared<const StepOrder>(segments, true);
  for (const Layer& l : layers_) {
    Var y = l.forward->run(pass, l.forward->gates(pass, rows.x), {}, onwards);
    if (l.backward) y = concatenate_columns(ctx, {y, l.backward->run(pass, l.backward->gates(pass, rows.x), {}, back)});
    rows.x = dropped(pass, y, rate_, l.site);
  }
  return rows;
}

double RnnEncoder::multiplied_weights(double share) const {
  double sum = 0;
  for (const Layer& l : layers_)
    sum += l.forward->multiplied_weights() + (l.backward ? l.backward->multiplied_weights() : 0);
  return share * sum * input_->rows_per_row() + input_->multiplied_weights();
}

}  // namespace attune
