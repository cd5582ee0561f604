#include "model/cost.h"

#include <algorithm>

namespace attune {

namespace {

/// Numbers of weights that a source row, and a target row, is multiplied by.
struct Multiplied {
  double source = 0, target = 0;
};

Multiplied weights_of(const ModelOptions& o, const Vocabularies& sizes) {
  const auto d = static_cast<double>(o.d_model), ff = static_cast<double>(o.d_ff);
  const double kv = o.heads_kv ? static_cast<double>(o.heads_kv) / static_cast<double>(o.heads) : 1;
  const double self = (2 + 2 * kv) * d * d, feed = (activation_kind(o.activation).gated ? 3 : 2) * d * ff;
  Multiplied m;
  const auto layers = static_cast<double>(o.decoder_layers);
  if (o.shape != ModelShape::decoder) m.source = static_cast<double>(o.encoder_layers) * (self + feed);
  if (o.shape == ModelShape::encoder) return m;
  m.target = layers * (self + feed) + d * static_cast<double>(sizes.target_vocabulary);
  if (o.shape == ModelShape::encoder_decoder) {
    m.target += layers * 2 * d * d;       // query and output of cross-attention
    m.source += layers * 2 * kv * d * d;  // its keys and values
  }
  return m;
}

/// How many rows there are, and pairs of positions that see each other: all of a source, the past of a target, all of
/// source by target.
struct Counts {
  double sources = 0, targets = 0, source_pairs = 0, target_pairs = 0, cross_pairs = 0;
};

double flops(const ModelOptions& o, const Vocabularies& sizes, const Counts& n) {
  const Multiplied m = weights_of(o, sizes);
  const auto d = static_cast<double>(o.d_model), encoder = static_cast<double>(o.encoder_layers),
             decoder = static_cast<double>(o.decoder_layers);
  return 6 * (m.source * n.sources + m.target * n.targets) +
         14 * d * (encoder * n.source_pairs + decoder * (n.target_pairs + n.cross_pairs));
}

}  // namespace

double training_flops(const Transformer& model, const Segments* sources, const Segments& targets) {
  Counts c;
  c.sources = sources ? static_cast<double>(sources->rows()) : 0;
  c.targets = static_cast<double>(targets.rows());
  for (int64_t i = 0; i < targets.count(); ++i) {
    const auto m = static_cast<double>(targets.length(i)), n = sources ? static_cast<double>(sources->length(i)) : 0;
    c.source_pairs += n * n;
    c.target_pairs += m * (m + 1) / 2;
    c.cross_pairs += m * n;
  }
  return flops(model.options(), model.sizes(), c);
}

double training_flops(const ModelOptions& model, const Vocabularies& sizes, int64_t source_tokens,
                      int64_t target_tokens, int64_t length) {
  const auto n = static_cast<double>(source_tokens), m = static_cast<double>(target_tokens),
             l = static_cast<double>(length);
  return flops(model, sizes, {n, m, n * l, m * (l + 1) / 2, m * l});
}

}  // namespace attune
