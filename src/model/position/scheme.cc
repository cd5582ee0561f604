#include "model/position/scheme.h"

#include <cmath>

#include "base/fields.h"
#include "model/kinds.h"
#include "model/position/alibi.h"
#include "model/position/counting.h"
#include "model/position/axes.h"
#include "model/position/learned.h"
#include "model/position/music.h"
#include "model/position/none.h"
#include "model/position/quadratic.h"
#include "model/position/rope.h"
#include "model/position/shaw.h"
#include "model/position/sinusoidal.h"
#include "model/position/t5.h"
#include "model/position/transformer_xl.h"

namespace attune {

LearnedPosition::LearnedPosition(const Options&, const PositionSetup& setup, const Blueprint& b)
    : longest_(setup.longest) {
  const Init init = Init::normal(1 / std::sqrt(static_cast<double>(setup.d_model)));
  if (setup.grid.empty()) tables_ = {b.table("position.weight", setup.longest, setup.d_model, init)};
  const auto axes = std::ssize(setup.grid);
  for (int64_t a = 0; a < axes; ++a)
    tables_.push_back(b.table("position." + std::to_string(a) + ".weight", setup.grid[static_cast<size_t>(a)],
                              setup.d_model / axes, init));
}

namespace {

using MakeScheme = std::unique_ptr<PositionScheme> (*)(const Choice&, const PositionSetup&, const Blueprint&,
                                                       const std::string& key);

template <class T>
std::unique_ptr<PositionScheme> make(const Choice& choice, const PositionSetup& setup, const Blueprint& b,
                                     const std::string& key) {
  typename T::Options options;
  apply_options(fields_of(options), choice, key);
  return std::make_unique<T>(options, setup, b);
}

constexpr MakeScheme kSchemeMakers[] = {
#define POSITION(type) make<type>,
#include "model/position/kinds.inc"
#undef POSITION
};

}  // namespace

const std::vector<PositionKind>& position_kinds() {
  static const std::vector<PositionKind> kinds{
#define POSITION(type) type::kKind,
#include "model/position/kinds.inc"
#undef POSITION
  };
  return kinds;
}

const std::vector<Fields>& position_options() {
  static const std::vector<Fields> options{
#define POSITION(type) default_options<type>(),
#include "model/position/kinds.inc"
#undef POSITION
  };
  return options;
}

std::unique_ptr<PositionScheme> make_position(const Choice& choice, const PositionSetup& setup,
                                              const Blueprint& blueprint, const std::string& key) {
  const size_t i = find_kind(position_kinds(), choice, key);
  const PositionKind& kind = position_kinds()[i];
  const auto axes = std::ssize(setup.grid);
  if (axes > 1 && !kind.grids)
    fail(ErrorKind::recipe,
         "{} = \"{}\" counts along one axis, and these places have {}\n  fix: another scheme, such as \"learned\" or "
         "\"shaw\"",
         key, choice.kind, axes);
  if (axes > 1 && setup.d_model % axes != 0 && kind.relative == Relative::none && choice.kind != "none")
    fail(ErrorKind::recipe,
         "model.d_model = {} is not a multiple of the {} axes, which share the columns of {} = \"{}\"\n  fix: raise it "
         "by "
         "{}",
         setup.d_model, axes, key, choice.kind, axes - setup.d_model % axes);
  if (axes < 2 || kind.relative != Relative::scores || kind.joins_axes)
    return kSchemeMakers[i](choice, setup, blueprint, key);
  std::vector<AxesPosition::Axis> parts;
  for (int64_t a = 0; a < axes; ++a) {
    const PositionSetup along{setup.d_model, setup.grid[static_cast<size_t>(a)], {}, a};
    parts.push_back({kSchemeMakers[i](choice, along, blueprint, key), a});
  }
  return std::make_unique<AxesPosition>(std::move(parts));
}

}  // namespace attune
