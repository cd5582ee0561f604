#include "model/cost.h"

#include <algorithm>

namespace attune {

namespace {

/// Numbers of weights that a source row, and a target row, is multiplied by.
struct Multiplied {
  double source = 0, target = 0;
};

Multiplied weights_of(const Transformer& model) {
  const ModelOptions& o = model.options();
  const auto d = static_cast<double>(o.d_model), ff = static_cast<double>(o.d_ff);
  const double kv = o.heads_kv ? static_cast<double>(o.heads_kv) / static_cast<double>(o.heads) : 1;
  const double self = (2 + 2 * kv) * d * d, feed = (activation_kind(o.activation).gated ? 3 : 2) * d * ff;
  Multiplied m;
  const auto layers = static_cast<double>(o.decoder_layers);
  if (o.shape != ModelShape::decoder) m.source = static_cast<double>(o.encoder_layers) * (self + feed);
  if (o.shape == ModelShape::encoder) return m;
  m.target = layers * (self + feed) + d * static_cast<double>(model.sizes().target_vocabulary);
  if (o.shape == ModelShape::encoder_decoder) {
    m.target += layers * 2 * d * d;       // query and output of cross-attention
    m.source += layers * 2 * kv * d * d;  // its keys and values
  }
  return m;
}

/// Pairs of positions: all of a source, half of a target (the past), all of source by target.
double flops(const Transformer& model, double sources, double targets, double source_pairs, double target_pairs,
             double cross_pairs) {
  const ModelOptions& o = model.options();
  const Multiplied m = weights_of(model);
  const auto d = static_cast<double>(o.d_model), encoder = static_cast<double>(o.encoder_layers),
             decoder = static_cast<double>(o.decoder_layers);
  return 6 * (m.source * sources + m.target * targets) +
         14 * d * (encoder * source_pairs + decoder * (target_pairs + cross_pairs));
}

}  // namespace

double training_flops(const Transformer& model, const Segments* sources, const Segments& targets) {
  double source_pairs = 0, target_pairs = 0, cross_pairs = 0;
  for (int64_t i = 0; i < targets.count(); ++i) {
    const auto m = static_cast<double>(targets.length(i)), n = sources ? static_cast<double>(sources->length(i)) : 0;
    source_pairs += n * n;
    target_pairs += m * (m + 1) / 2;
    cross_pairs += m * n;
  }
  return flops(model, sources ? static_cast<double>(sources->rows()) : 0, static_cast<double>(targets.rows()),
               source_pairs, target_pairs, cross_pairs);
}

double training_flops(const Transformer& model, int64_t source_tokens, int64_t target_tokens, int64_t length) {
  const auto n = static_cast<double>(source_tokens), m = static_cast<double>(target_tokens),
             l = static_cast<double>(length);
  return flops(model, n, m, n * l, m * (l + 1) / 2, m * l);
}

}  // namespace attune
