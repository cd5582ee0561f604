// What train.guide asks of the model while it learns: that one cross-attention of the decoder looks near the diagonal,
// or where given alignments say.
#pragma once
#include <cstdint>

#include "data/shards.h"
#include "model/model.h"

namespace attune {

class Guidance {
 public:
  /// ErrorKind::recipe where the model has nothing that can be guided there.
  Guidance(const Model& model, const GuideSettings& settings);

  bool on() const { return settings_.weight > 0; }
  double weight() const { return settings_.weight; }
  /// Target rows of a batch that count: all, or those that have a link.
  int64_t rows(const Batch& batch) const;
  /// What a pass over a piece is asked for; `rows` are those that count in the whole update.
  GuidedLayer of(const Batch& piece, int64_t rows) const;

 private:
  GuideSettings settings_;
  std::string place_;
};

}  // namespace attune
