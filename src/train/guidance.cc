#include "train/guidance.h"

#include "base/error.h"

namespace attune {

Guidance::Guidance(const Model& model, const GuideSettings& settings) : settings_(settings) {
  if (!on()) return;
  const int64_t layer = settings.layer < 0 ? model.decoder()->alignment_layer() : settings.layer;
  if (!model.decoder()->can_be_guided(layer))
    fail(ErrorKind::recipe,
         "train.guide: the cross-attention of layer {} has no weights that can be guided\n"
         "  fix: set model.cross_attention = \"softmax\", with a score that is a dot product and the softmax as its "
         "normalizer",
         layer);
  place_ = fmt::format("decoder.{}.cross", layer);
}

int64_t Guidance::rows(const Batch& batch) const {
  if (settings_.kind == GuideKind::diagonal) return batch.target_tokens();
  const Column<int32_t>& start = batch.target().right.edges.start;
  int64_t count = 0;
  for (size_t i = 1; i < start.size(); ++i) count += start[i] > start[i - 1];
  return count;
}

GuidedLayer Guidance::of(const Batch& piece, int64_t rows) const {
  GuidedLayer g{place_, {}};
  if (settings_.kind == GuideKind::diagonal)
    g.guide.sigma = settings_.sigma;
  else
    g.guide.links = piece.target().right.edges;
  g.guide.head = settings_.head;
  g.guide.scale = rows > 0 ? settings_.weight / static_cast<double>(rows) : 0;
  return g;
}

}  // namespace attune
