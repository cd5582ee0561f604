// One attention layer to look at, as people choose it: checked first, then read while a pair goes by it.
#pragma once
#include "attune/look.h"
#include "inference/model_files.h"
#include "inference/word_alignment.h"

namespace attune {

/// A text as a model without a decoder reads it: its marks around it, cropped to the longest.
std::vector<int32_t> read_alone(const OpenedModel& m, const std::string& text);

/// Where no layer is chosen and a cross-attention was guided in training: that one, and its head.
AttentionChoice by_guide(AttentionChoice choice, const GuideSettings& guide);

/// Whether any layer of it attends to anything.
bool can_be_looked_at(const Model& model);

class LookedAt {
 public:
  /// Where no layer is chosen, a guided one counts. ErrorKind::usage for a layer there is not.
  LookedAt(const Model& model, const AttentionChoice& choice, const GuideSettings& guide = {});
  /// `pair.target` with its end mark; without a source for a language model. ErrorKind::usage for a head there is not,
  /// and for a mechanism that has no weights.
  AttentionLook operator()(const Tokenizers& tokenizers, const SentencePair& pair, Arena& arena) const;

 private:
  std::vector<float> weights_of(int layer, const SentencePair& pair, Arena& arena) const;
  void add_each(AttentionLook& look, const SentencePair& pair, Arena& arena) const;

  const Model& model_;
  AttentionSite at_;
  std::string stack_;  // "encoder", "decoder"
  int layer_, layers_, head_;
  bool each_, one_layer_, one_head_;  // what was asked for, whatever was guided
};

}  // namespace attune
