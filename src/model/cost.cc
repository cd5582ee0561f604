#include "model/cost.h"

#include <algorithm>

#include "model/layers/feed_forward.h"

namespace attune {

namespace {

/// The share of sublayers that training goes through, in the mean.
double not_skipped(const ModelOptions& o) { return 1 - o.layer_dropout; }

/// `share`: of the layers that are gone through.
MultipliedWeights weights_of(const ModelOptions& o, const ModelSizes& sizes, double share) {
  const auto d = static_cast<double>(o.d_model), ff = static_cast<double>(o.d_ff);
  const double kv = o.heads_kv ? static_cast<double>(o.heads_kv) / static_cast<double>(o.heads) : 1;
  const double self = (2 + 2 * kv) * d * d, feed = (activation_kind(o.activation).gated ? 3 : 2) * d * ff;
  MultipliedWeights m;
  const auto layers = static_cast<double>(o.decoder_layers) * share;
  if (has_encoder(o.shape)) m.source = static_cast<double>(o.encoder_layers) * share * (self + feed);
  if (!has_decoder(o.shape)) return m;
  m.target = layers * (self + feed) + d * static_cast<double>(sizes.target_vocabulary);
  if (o.shape == ModelShape::prefix) m.source = layers * (self + feed);
  if (o.shape == ModelShape::encoder_decoder) {
    m.target += layers * 2 * d * d;       // query and output of cross-attention
    m.source += layers * 2 * kv * d * d;  // its keys and values
  }
  return m;
}

/// Every weight is used going forward and twice going back, a multiply-add counted twice.
constexpr double kWeightPasses = 6;
double product_flops(const ModelOptions& o, const ModelSizes& sizes, double sources, double targets) {
  const MultipliedWeights m = weights_of(o, sizes, not_skipped(o));
  return kWeightPasses * (m.source * sources + m.target * targets);
}

/// Two products forward, five back.
constexpr double kMixingPasses = 3.5;

}  // namespace

double training_flops(const Model& model, const DecodedRows& rows) {
  const double share = not_skipped(model.options());
  const MultipliedWeights m = model.multiplied_weights(share);
  const double sources = rows.sources ? static_cast<double>(rows.sources->rows()) : 0;
  return kWeightPasses * (m.source * sources + m.target * static_cast<double>(rows.targets.rows())) +
         kMixingPasses * share * model.mixing_operations(rows);
}

double training_flops(const ModelOptions& model, const ModelSizes& sizes, int64_t source_tokens, int64_t target_tokens,
                      int64_t length) {
  const auto n = static_cast<double>(source_tokens), m = static_cast<double>(target_tokens),
             l = static_cast<double>(length);
  const auto encoder = static_cast<double>(model.encoder_layers), decoder = static_cast<double>(model.decoder_layers);
  const double pairs = encoder * n * l + decoder * (m * (l + 1) / 2 + m * l);
  return product_flops(model, sizes, n, m) +
         kMixingPasses * not_skipped(model) * 4 * static_cast<double>(model.d_model) * pairs;
}

}  // namespace attune
