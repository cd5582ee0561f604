#include "model/rnn/attention.h"

#include "model/kinds.h"
#include "model/rnn/additive.h"

namespace attune {

namespace {

using MakeRecurrentAttention = std::unique_ptr<RecurrentAttention> (*)(const Choice&, const RecurrentAttentionSetup&,
                                                                       const Blueprint&, const std::string& key);

template <class T>
std::unique_ptr<RecurrentAttention> make(const Choice& choice, const RecurrentAttentionSetup& setup, const Blueprint& b,
                                         const std::string& key) {
  typename T::Options options;
  apply_options(fields_of(options), choice, key);
  return std::make_unique<T>(options, setup, b);
}

constexpr MakeRecurrentAttention kRecurrentAttentionMakers[] = {
#define RECURRENT_ATTENTION(type) make<type>,
#include "model/rnn/attentions.inc"
#undef RECURRENT_ATTENTION
};

}  // namespace

const std::vector<RecurrentAttentionKind>& recurrent_attention_kinds() {
  static const std::vector<RecurrentAttentionKind> kinds{
#define RECURRENT_ATTENTION(type) type::kKind,
#include "model/rnn/attentions.inc"
#undef RECURRENT_ATTENTION
  };
  return kinds;
}

const std::vector<Fields>& recurrent_attention_options() {
  static const std::vector<Fields> options{
#define RECURRENT_ATTENTION(type) default_options<type>(),
#include "model/rnn/attentions.inc"
#undef RECURRENT_ATTENTION
  };
  return options;
}

std::unique_ptr<RecurrentAttention> make_recurrent_attention(const Choice& choice, const RecurrentAttentionSetup& setup,
                                                             const Blueprint& b, const std::string& key) {
  return kRecurrentAttentionMakers[find_kind(recurrent_attention_kinds(), choice, key)](choice, setup, b, key);
}

}  // namespace attune
