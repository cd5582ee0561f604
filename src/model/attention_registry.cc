// All attention mechanisms there are, and how the chosen one is made.
#include "base/fields.h"
#include "model/attention/adaptive_span.h"
#include "model/attention/band.h"
#include "model/attention/edges.h"
#include "model/attention/head_groups.h"
#include "model/attention/linear.h"
#include "model/attention/luna.h"
#include "model/attention/mechanism.h"
#include "model/attention/persistent.h"
#include "model/attention/routing.h"
#include "model/attention/softmax.h"
#include "model/attention/sparse/axial.h"
#include "model/attention/sparse/bigbird.h"
#include "model/attention/sparse/binary_partition.h"
#include "model/attention/sparse/etc.h"
#include "model/attention/sparse/image_transformer.h"
#include "model/attention/sparse/longformer.h"
#include "model/attention/sparse/sparse.h"
#include "model/attention/sparse/sparse_transformer.h"
#include "model/attention/sparse/star.h"
#include "model/attention/transformer_xl.h"
#include "model/kinds.h"

namespace attune {

namespace {

using MakeMechanism = std::unique_ptr<AttentionMechanism> (*)(const Choice&, const AttentionSetup&, const Blueprint&,
                                                              const std::string& key);

template <class T>
std::unique_ptr<AttentionMechanism> make(const Choice& choice, const AttentionSetup& setup, const Blueprint& place,
                                         const std::string& key) {
  typename T::Options options;
  apply_options(fields_of(options), choice, key);
  if constexpr (requires { options.check(key); }) options.check(key);
  return std::make_unique<T>(options, setup, place);
}

constexpr MakeMechanism kMechanismMakers[] = {
#define ATTENTION(type) make<type>,
#include "model/attention/kinds.inc"
#undef ATTENTION
};

}  // namespace

const std::vector<AttentionKind>& attention_kinds() {
  static const std::vector<AttentionKind> kinds{
#define ATTENTION(type) type::kKind,
#include "model/attention/kinds.inc"
#undef ATTENTION
  };
  return kinds;
}

const std::vector<Fields>& attention_options() {
  static const std::vector<Fields> options{
#define ATTENTION(type) default_options<type>(),
#include "model/attention/kinds.inc"
#undef ATTENTION
  };
  return options;
}

std::unique_ptr<AttentionMechanism> make_attention(const Choice& choice, const AttentionSetup& setup,
                                                   const Blueprint& place, const std::string& key) {
  const size_t i = find_kind(attention_kinds(), choice, key);
  const AttentionKind& kind = attention_kinds()[i];
  if (setup.causal && !kind.causal)
    fail(ErrorKind::recipe,
         "{} = \"{}\" sees the future, which a decoder may not\n"
         "  fix: another mechanism for model.decoder_attention: see `attune info mechanisms`",
         key, kind.name);
  if (setup.cross && !kind.cross)
    fail(ErrorKind::recipe,
         "{} = \"{}\" works within one sequence, not from decoder to encoder\n"
         "  fix: another mechanism for model.cross_attention: see `attune info mechanisms`",
         key, kind.name);
  if (setup.relative > kind.relative)
    fail(ErrorKind::recipe,
         "{} = \"{}\" has no {} that the position scheme \"{}\" could change\n"
         "  fix: a scheme that is added to the embeddings (sinusoidal, learned){}",
         key, kind.name, setup.relative == Relative::scores ? "scores" : "dot products", setup.position,
         kind.relative == Relative::turned ? ", or rope" : ", or none");
  try {
    return kMechanismMakers[i](choice, setup, place, key);
  } catch (const Error& e) {  // of a part of it, which does not know where it was chosen
    if (e.kind() != ErrorKind::recipe || std::string_view(e.what()).starts_with(key)) throw;
    fail(ErrorKind::recipe, "{} = {}: {}", key, choice.literal(), e.what());
  }
}

}  // namespace attune
