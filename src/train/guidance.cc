#include "train/guidance.h"

#include "base/error.h"

namespace attune {

Guidance::Guidance(const Transformer& model, const GuideSettings& settings) : settings_(settings) {
  if (!on()) return;
  const int64_t layer = settings.layer < 0 ? model.alignment_layer() : settings.layer;
  if (!model.can_be_guided(layer))
    fail(ErrorKind::recipe,
         "train.guide: the cross-attention of layer {} has no weights that can be guided\n"
         "  fix: set model.cross_attention = \"softmax\", with a score that is a dot product and the softmax as its "
         "normalizer",
         layer);
  place_ = fmt::format("decoder.{}.cross", layer);
}

int64_t Guidance::rows(const Batch& batch) const {
  if (settings_.kind == GuideKind::diagonal) return batch.target_tokens();
  int64_t count = 0;
  for (size_t i = 1; i < batch.link_start.size(); ++i) count += batch.link_start[i] > batch.link_start[i - 1];
  return count;
}

GuidedLayer Guidance::of(const Shard& piece, int64_t rows) const {
  GuidedLayer g{place_, {}};
  if (settings_.kind == GuideKind::diagonal)
    g.guide.sigma = settings_.sigma;
  else
    g.guide.links = {piece.link_start, piece.links};
  g.guide.head = settings_.head;
  g.guide.scale = rows > 0 ? settings_.weight / static_cast<double>(rows) : 0;
  return g;
}

}  // namespace attune
