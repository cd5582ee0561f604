#include "model/input/input.h"

#include <cmath>

#include "autograd/operations/activation.h"
#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/embed.h"
#include "model/input/embed.h"
#include "model/input/linear.h"
#include "model/kinds.h"

namespace attune {

namespace {

const Choice& own_or(const Choice& own, const Choice& common) { return own.kind.empty() ? common : own; }

/// The position scheme of a side, and what the recipe calls it.
const Choice& position_of(const InputSetup& s) {
  const ModelOptions& o = s.side.options;
  return own_or(s.decoder ? o.decoder_position : o.encoder_position, o.position);
}
std::string position_key(const InputSetup& s) {
  if (position_of(s) == s.side.options.position) return "model.position";
  return s.decoder ? "model.decoder_position" : "model.encoder_position";
}

}  // namespace

Input::Input(const InputSetup& s, const Blueprint& b)
    : position_name_(position_of(s).kind),
      position_(make_position(position_of(s), {s.side.options.d_model, s.side.sizes.longest}, b, position_key(s))),
      rate_(static_cast<float>(s.side.options.dropout)),
      word_rate_(static_cast<float>(s.side.options.word_dropout)),
      site_(b.site()) {}

Var Input::placed(const Pass& pass, const Var& x, const Rows& rows, std::span<const int32_t> offsets) const {
  Ctx& ctx = pass.ctx;
  Var y = x;
  if (const Var table = position_->table(pass)) {
    const Var ids = ctx.make({x.rows()}, DType::i32, {});
    ctx.run([&] {
      const RowPositions where{&rows.segments, offsets, rows.axes == 1 ? rows.place_tensor() : Tensor()};
      kernels::PositionWalk walk(where, 0);
      for (int64_t i = 0; i < x.rows(); ++i) ids.value().as<int32_t>()[i] = static_cast<int32_t>(walk.next());
    });
    y = add(ctx, x, gather_rows(ctx, table, ids));
  }
  const Dropout dropout = ctx.dropout(rate_, site_);
  return dropout.on() ? activation(ctx, y, {Activation::none, false}, dropout) : y;
}

// --- words -----------------------------------------------------------------------------------------------------------

EmbedInput::EmbedInput(const Options&, const InputSetup& s, const Blueprint& b)
    : Input(s, b), table_(s.side.table), scale_(std::sqrt(static_cast<float>(s.side.options.d_model))) {
  if (table_ >= 0) return;
  const int64_t d = s.side.options.d_model;
  const Init init = Init::normal(1 / std::sqrt(static_cast<double>(d)));
  // What is multiplied by, too, keeps its panels packed.
  const bool multiplied = s.decoder || s.side.options.head.kind == "words";
  table_ = multiplied ? b.matrix("embedding.weight", s.vocabulary(), d, init)
                      : b.table("embedding.weight", s.vocabulary(), d, init);
}

Encoded EmbedInput::operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const {
  Embedding e;
  e.table = pass[table_];
  e.ids = rows.id_tensor();
  e.scale = scale_;
  e.positions = position_->table(pass);
  e.where = {&rows.segments, offsets, rows.axes == 1 ? rows.place_tensor() : Tensor()};
  e.words = pass.ctx.dropout(word_rate_, whole_words(site_));
  return {embed(pass.ctx, e, pass.ctx.dropout(rate_, site_)), &rows};
}

// --- all there are ---------------------------------------------------------------------------------------------------

namespace {

using MakeInputKind = std::unique_ptr<Input> (*)(const Choice&, const InputSetup&, const Blueprint&,
                                                 const std::string& key);

template <class T>
std::unique_ptr<Input> make_input_kind(const Choice& choice, const InputSetup& setup, const Blueprint& b,
                                       const std::string& key) {
  typename T::Options options;
  apply_options(fields_of(options), choice, key);
  return std::make_unique<T>(options, setup, b);
}

constexpr MakeInputKind kInputMakers[] = {
#define INPUT(type) make_input_kind<type>,
#include "model/input/kinds.inc"
#undef INPUT
};

}  // namespace

const std::vector<InputKind>& input_kinds() {
  static const std::vector<InputKind> kinds{
#define INPUT(type) type::kKind,
#include "model/input/kinds.inc"
#undef INPUT
  };
  return kinds;
}

const std::vector<Fields>& input_options() {
  static const std::vector<Fields> options{
#define INPUT(type) default_options<type>(),
#include "model/input/kinds.inc"
#undef INPUT
  };
  return options;
}

std::unique_ptr<Input> make_input(const InputSetup& setup, const Blueprint& b) {
  const ModelOptions& o = setup.side.options;
  const Choice& own = setup.decoder ? o.target_input : o.source_input;
  const std::string key = own.kind.empty() ? "model.input"
                          : setup.decoder  ? "model.target_input"
                                           : "model.source_input";
  const Choice& choice = own_or(own, o.input);
  const size_t i = find_kind(input_kinds(), choice, key);
  const bool words = setup.decoder || setup.side.sizes.source_width == 0;
  if (input_kinds()[i].words != words)
    fail(ErrorKind::recipe, "{} = \"{}\" reads {}, and the data has {}\n  fix: see `attune info inputs`", key,
         choice.kind, words ? "vectors" : "words", words ? "words" : "vectors");
  return kInputMakers[i](choice, setup, b, key);
}

}  // namespace attune
