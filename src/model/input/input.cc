#include "model/input/input.h"

#include <cmath>

#include "autograd/operations/arrange.h"
#include "autograd/operations/elementwise.h"
#include "autograd/operations/embed.h"
#include "base/error.h"
#include "model/input/convolution.h"
#include "model/input/embed.h"
#include "model/input/linear.h"
#include "model/input/patches.h"
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

Input::Input(const InputSetup& s, const Blueprint& b, const std::vector<int64_t>& grid)
    : position_name_(position_of(s).kind),
      position_(
          make_position(position_of(s), {s.side.options.d_model, s.side.sizes.longest, grid}, b, position_key(s))),
      rate_(static_cast<float>(s.side.options.dropout)),
      word_rate_(static_cast<float>(s.side.options.word_dropout)),
      site_(b.site()) {}

Var Input::placed(const Pass& pass, const Var& x, const Rows& rows, std::span<const int32_t> offsets) const {
  Ctx& ctx = pass.ctx;
  Var y = x;
  const RowPositions where{&rows.segments, offsets, rows.axes == 1 ? rows.place_tensor() : Tensor()};
  int64_t positions = 0;  // on any axis
  if (rows.axes > 1)
    for (int64_t i = 0; i < x.rows() * rows.axes; ++i)
      positions = std::max<int64_t>(positions, rows.places[static_cast<size_t>(i)] + 1);
  if (rows.axes > 1 && position_->axis_table(pass, 0, positions)) {
    std::vector<Var> parts;
    for (int64_t a = 0; a < rows.axes; ++a) {
      const Var table = position_->axis_table(pass, a, positions), ids = ctx.make({x.rows()}, DType::i32, {});
      ctx.run([&] {
        for (int64_t i = 0; i < x.rows(); ++i)
          ids.value().as<int32_t>()[i] = rows.places[static_cast<size_t>(i * rows.axes + a)];
      });
      parts.push_back(gather_rows(ctx, table, ids));
    }
    y = add(ctx, x, concatenate_columns(ctx, parts));
  } else if (const Var table = rows.axes > 1 ? Var() : position_->table(pass, positions_of(where, x.rows()))) {
    const Var ids = ctx.make({x.rows()}, DType::i32, {});
    ctx.run([&] {
      kernels::PositionWalk walk(where, 0);
      for (int64_t i = 0; i < x.rows(); ++i) ids.value().as<int32_t>()[i] = static_cast<int32_t>(walk.next());
    });
    y = add(ctx, x, gather_rows(ctx, table, ids));
  }
  return dropped(pass, y, rate_, site_);
}

// --- vectors ---------------------------------------------------------------------------------------------------------

Var values_of(const Pass& pass, const Rows& rows) {
  const Tensor given = rows.value_tensor();
  if (pass.dtype() == DType::f32) return pass.ctx.input(given);
  const Var exact = pass.ctx.make(given.shape, pass.dtype(), {});
  pass.ctx.run([&] { std::copy_n(given.as<float>(), given.size(), exact.value().as<double>()); });
  return exact;
}

Grids grids_of(const Rows& rows) {
  check(rows.axes == 2, "input", "places on {} axes are no grid", rows.axes);
  std::vector<GridSize> sizes;
  for (int64_t s = 0; s < rows.segments.count(); ++s) {
    GridSize size;
    if (rows.segments.length(s) > 0) {
      const int32_t* last = rows.places.data() + 2 * (rows.segments.begin(s + 1) - 1);
      size = {last[0] + 1, last[1] + 1};
    }
    check(int64_t{size.height} * size.width == rows.segments.length(s), "input", "{} rows are no grid of {} x {}",
          rows.segments.length(s), size.height, size.width);
    sizes.push_back(size);
  }
  return Grids::of_sizes(std::move(sizes));
}

std::shared_ptr<const Rows> rows_of_grids(const Pass& pass, const Grids& grids, const Rows& from) {
  Rows rows;
  rows.segments = grids.segments;
  rows.axes = 2;
  // There are no more of them than there were: those of different shards stay different for dropout.
  rows.first_row = from.first_row;
  std::vector<int32_t>& places = rows.places.own();
  places.reserve(static_cast<size_t>(2 * grids.rows()));
  for (const GridSize& s : grids.sizes)
    for (int32_t y = 0; y < s.height; ++y)
      for (int32_t x = 0; x < s.width; ++x) places.insert(places.end(), {y, x});
  return keep(pass.ctx, std::move(rows));
}

// --- words -----------------------------------------------------------------------------------------------------------

EmbedInput::EmbedInput(const Options&, const InputSetup& s, const Blueprint& b)
    : Input(s, b), table_(s.side.table), scale_(std::sqrt(static_cast<float>(s.side.options.d_model))) {
  if (table_ >= 0) return;
  const int64_t d = s.side.options.d_model;
  const Init init = Init::normal(1 / std::sqrt(static_cast<double>(d)));
  // What is multiplied by, too, keeps its panels packed.
  const bool multiplied = s.writes() || s.side.options.head.kind == "words";
  table_ = multiplied ? b.matrix("embedding.weight", s.vocabulary(), d, init)
                      : b.table("embedding.weight", s.vocabulary(), d, init);
}

Encoded EmbedInput::operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets) const {
  EmbedArgs e;
  e.table = pass[table_];
  e.ids = rows.id_tensor();
  e.scale = scale_;
  e.where = {&rows.segments, offsets, rows.axes == 1 ? rows.place_tensor() : Tensor()};
  e.positions = position_->table(pass, positions_of(e.where, rows.rows()));
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
  if (input_kinds()[i].grids && setup.side.sizes.source_grid.size() != 2)
    fail(ErrorKind::recipe, "{} = \"{}\" reads pictures, and the data has none\n  fix: see `attune info inputs`", key,
         choice.kind);
  return kInputMakers[i](choice, setup, b, key);
}

}  // namespace attune
