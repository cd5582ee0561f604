#include "model/family.h"

#include "model/bag.h"
#include "model/kinds.h"
#include "model/rnn/rnn.h"
#include "model/transformer/transformer.h"

namespace attune {

namespace {

using MakeEncoder = std::unique_ptr<Encoder> (*)(const SideSetup&, const Blueprint&);
using MakeDecoder = std::unique_ptr<Decoder> (*)(const SideSetup&, const Blueprint&);

template <class Family>
typename Family::Options options_of(const SideSetup& setup) {
  typename Family::Options options;
  apply_options(fields_of(options), setup.kind, setup.key);
  return options;
}

/// None where the family has no such side.
template <class Family>
constexpr MakeEncoder encoder_maker() {
  if constexpr (Family::kKind.encodes)
    return [](const SideSetup& s, const Blueprint& b) { return Family::encoder(options_of<Family>(s), s, b); };
  return nullptr;
}
template <class Family>
constexpr MakeDecoder decoder_maker() {
  if constexpr (Family::kKind.decodes)
    return [](const SideSetup& s, const Blueprint& b) { return Family::decoder(options_of<Family>(s), s, b); };
  return nullptr;
}

struct SideMakers {
  MakeEncoder encoder;
  MakeDecoder decoder;
};
constexpr SideMakers kSideMakers[] = {
#define MODEL(type) {encoder_maker<type>(), decoder_maker<type>()},
#include "model/families.inc"
#undef MODEL
};

const SideMakers& makers_of(const SideSetup& s) { return kSideMakers[find_kind(model_kinds(), s.kind, s.key)]; }

}  // namespace

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> kinds{
#define MODEL(type) type::kKind,
#include "model/families.inc"
#undef MODEL
  };
  return kinds;
}

const std::vector<Fields>& model_kind_options() {
  static const std::vector<Fields> options{
#define MODEL(type) default_options<type>(),
#include "model/families.inc"
#undef MODEL
  };
  return options;
}

std::unique_ptr<Encoder> make_encoder(const SideSetup& setup, const Blueprint& place) {
  const MakeEncoder make = makers_of(setup).encoder;
  if (!make)
    fail(ErrorKind::recipe, "{} = \"{}\" writes and reads nothing before\n  fix: see `attune info models`", setup.key,
         setup.kind.kind);
  return make(setup, place);
}

std::unique_ptr<Decoder> make_decoder(const SideSetup& setup, const Blueprint& place) {
  const MakeDecoder make = makers_of(setup).decoder;
  if (!make)
    fail(ErrorKind::recipe, "{} = \"{}\" reads texts and writes none\n  fix: see `attune info models`", setup.key,
         setup.kind.kind);
  return make(setup, place);
}

}  // namespace attune
