// Keskar et al. 2019 (CTRL), section 4.1: logits of what was said are divided by the penalty, or multiplied below 0.
// Log-probabilities are those of the logits after that.
#pragma once
#include "decode/logits_processor.h"

namespace attune {

class RepetitionPenalty : public LogitsProcessor {
 public:
  explicit RepetitionPenalty(double penalty) : by_(static_cast<float>(penalty)) {}
  bool weighs() const override { return true; }
  void weigh(std::span<const int32_t> said, float* logits) const override {
    for (const int32_t id : said) logits[id] = logits[id] > 0 ? logits[id] / by_ : logits[id] * by_;
  }

 private:
  float by_;
};

}  // namespace attune
