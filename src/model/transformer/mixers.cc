#include "model/transformer/mixers.h"

#include "model/attention/multi_head.h"
#include "model/kinds.h"

namespace attune {

namespace {

/// Self-attention, by model.attention and the position scheme of the input.
struct AttentionMixer {
  static constexpr MixerKind kKind{
      .name = "attention",
      .sentence = "self-attention, by the mechanism of model.attention",
      .cite = "Vaswani et al. 2017, Attention Is All You Need",
  };
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  static std::unique_ptr<Mixer> make(const Options&, const MixerSetup& m, const Blueprint& b) {
    const ModelOptions& o = m.options;
    AttentionSetup s = attention_setup(b, o, m.causal ? o.decoder_heads : o.encoder_heads);
    s.causal = m.causal;
    const std::vector<Choice>& own = m.causal ? o.decoder_attention : o.encoder_attention;
    const std::string key = own.empty() ? "model.attention"
                            : m.causal  ? "model.decoder_attention"
                                        : "model.encoder_attention";
    std::unique_ptr<RelativePosition> relative = m.input.position().layer(b.at("position"), s);
    if (relative) s.relative = relative->hook() ? Relative::scores : Relative::turned;
    s.position = m.input.position_name();
    const Choice& choice = in_turn(own.empty() ? o.attention : own, m.layer);
    return std::make_unique<SelfAttention>(b, s, make_attention(choice, s, b, key), std::move(relative));
  }
};

using MakeMixerKind = std::unique_ptr<Mixer> (*)(const Choice&, const MixerSetup&, const Blueprint&);

template <class T>
std::unique_ptr<Mixer> make_mixer_kind(const Choice& choice, const MixerSetup& setup, const Blueprint& b) {
  typename T::Options options;
  apply_options(fields_of(options), choice, "model.mixer");
  return T::make(options, setup, b);
}

constexpr MakeMixerKind kMixerMakers[] = {
#define MIXER(type) make_mixer_kind<type>,
#include "model/transformer/mixers.inc"
#undef MIXER
};

}  // namespace

const std::vector<MixerKind>& mixer_kinds() {
  static const std::vector<MixerKind> kinds{
#define MIXER(type) type::kKind,
#include "model/transformer/mixers.inc"
#undef MIXER
  };
  return kinds;
}

const std::vector<Fields>& mixer_options() {
  static const std::vector<Fields> options{
#define MIXER(type) default_options<type>(),
#include "model/transformer/mixers.inc"
#undef MIXER
  };
  return options;
}

std::unique_ptr<Mixer> make_mixer(const MixerSetup& setup, const Blueprint& place) {
  const Choice& choice = in_turn(setup.options.mixer, setup.layer);
  return kMixerMakers[find_kind(mixer_kinds(), choice, "model.mixer")](choice, setup, place);
}

}  // namespace attune
