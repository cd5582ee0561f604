// What a recipe may not say of a recurrent network: settings of the Transformer that would change nothing. Those that
// have their usual value pass, for a recipe that was written out has them all.
#include "base/error.h"
#include "model/rnn/rnn.h"

namespace attune {

namespace {

/// Whether every side of the model is recurrent: else its settings may be meant for the other.
bool all_recurrent(const ModelOptions& o) {
  const auto is = [&](const Choice& own) { return (own.kind.empty() ? o.kind : own).kind == "rnn"; };
  return (!has_encoder(o.shape) || is(o.encoder)) && (!has_decoder(o.shape) || is(o.decoder));
}

}  // namespace

void refuse_unused(const SideSetup& s) {
  if (!all_recurrent(s.options)) return;
  ModelOptions given = s.options, usual;
  const Fields ours = fields_of(given), defaults = fields_of(usual);
  for (const char* key : {"d_ff",
                          "heads",
                          "heads_kv",
                          "encoder_heads",
                          "decoder_heads",
                          "cross_heads",
                          "mixer",
                          "attention_dropout",
                          "activation_dropout",
                          "layer_dropout",
                          "norm",
                          "residual",
                          "feed_forward",
                          "activation",
                          "position",
                          "encoder_position",
                          "decoder_position",
                          "attention",
                          "encoder_attention",
                          "decoder_attention"}) {
    const FieldValue value = find_field(ours, key).get();
    if (value != find_field(defaults, key).get() && text_of(value) != "none")
      fail(ErrorKind::recipe, "model.{} = {}: {} = \"rnn\" has no use for it\n  fix: leave model.{} out", key,
           literal_of(value), s.key, key);
  }
}

}  // namespace attune
