// Beam search over one sentence: which hypotheses live, and when nothing better can come.
#pragma once
#include "decode/hypotheses.h"

namespace attune {

class Beam : public Hypotheses {
 public:
  using Hypotheses::Hypotheses;
  int64_t wanted() const override { return options_.beam + 1; }  // one of them may be the end

 private:
  void choose(std::vector<Continuation>& ways) override;
  bool hopeless(double log_prob) const;
};

}  // namespace attune
