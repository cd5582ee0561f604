#include "model/attention/mechanism.h"

#include "base/fields.h"
#include "model/attention/softmax.h"
#include "model/kinds.h"

namespace attune {

namespace {

using Make = std::unique_ptr<AttentionMechanism> (*)(const Choice&, const AttentionSetup&, const std::string& key);

template <class T>
std::unique_ptr<AttentionMechanism> make(const Choice& choice, const AttentionSetup& setup, const std::string& key) {
  typename T::Options options;
  apply_options(fields_of(options), choice, key);
  return std::make_unique<T>(options, setup);
}

constexpr Make kMakers[] = {
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

std::unique_ptr<AttentionMechanism> make_attention(const Choice& choice, const AttentionSetup& setup,
                                                   const std::string& key) {
  const size_t i = find_kind(attention_kinds(), choice, key);
  const AttentionKind& kind = attention_kinds()[i];
  if (setup.causal && !kind.causal)
    fail(ErrorKind::recipe, "{} = \"{}\" sees the future, which a decoder may not", key, kind.name);
  if (setup.cross && !kind.cross)
    fail(ErrorKind::recipe, "{} = \"{}\" works within one sequence, not from decoder to encoder", key, kind.name);
  return kMakers[i](choice, setup, key);
}

}  // namespace attune
