#include "model/usual_position.h"

#include <algorithm>

#include "model/attention/mechanism.h"
#include "model/family.h"

namespace attune {

namespace {

bool turns(const Choice& attention) {
  for (const AttentionKind& k : attention_kinds())
    if (attention.kind == k.name) return k.relative != Relative::none;
  return true;  // there is no such kind: said where it is made
}

bool has_use(const Choice& family) {
  for (const ModelKind& k : model_kinds())
    if (family.kind == k.name)
      return std::find(k.ignores.begin(), k.ignores.end(), std::string_view("position")) == k.ignores.end();
  return true;
}

/// Whether all layers of a side can take rope; so can a side that has no use for positions.
bool turns(const ModelOptions& m, const Choice& family, const std::vector<Choice>& attention, int64_t heads) {
  if (!has_use(family)) return true;
  const int64_t columns = m.d_model / std::max<int64_t>(1, heads > 0 ? heads : m.heads);
  const std::vector<Choice>& layers = attention.empty() ? m.attention : attention;
  return columns % 2 == 0 && std::all_of(layers.begin(), layers.end(), [](const Choice& a) { return turns(a); });
}

}  // namespace

bool has_use_for_positions(const ModelOptions& m) {
  return (has_encoder(m.shape) && has_use(encoder_kind(m))) || (has_decoder(m.shape) && has_use(decoder_kind(m)));
}

void settle_position(Recipe& recipe) {
  ModelOptions& m = recipe.model;
  const Choice other{"sinusoidal"};
  if (recipe.places.said.contains("model.position") || m.position.kind != "rope") return;
  const auto settle = [&](const char* key, Choice& position, bool unable) {
    if (unable && position.kind.empty() && !recipe.places.said.contains(key)) position = other;
  };
  const bool reads = has_encoder(m.shape), writes = has_decoder(m.shape);
  const bool reads_unable = reads && !turns(m, encoder_kind(m), m.encoder_attention, m.encoder_heads);
  const bool writes_unable = writes && !turns(m, decoder_kind(m), m.decoder_attention, m.decoder_heads);
  if (reads_unable == reads && writes_unable == writes) {
    m.position = other;
    return;
  }
  settle("model.encoder_position", m.encoder_position, reads_unable);
  settle("model.decoder_position", m.decoder_position, writes_unable);
}

}  // namespace attune
