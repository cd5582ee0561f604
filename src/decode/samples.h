// Translations of one sentence drawn at random, each by itself: what is probable is said often.
#pragma once
#include "decode/hypotheses.h"

namespace attune {

class Samples : public Hypotheses {
 public:
  /// `key` is the sentence's own, so that what is drawn does not depend on its batch.
  Samples(const SearchOptions& options, int64_t longest, std::span<const int32_t> prefix, uint64_t key);
  /// All of them begin in one place and part at the first token.
  int64_t wanted() const override { return length_ == 0 ? options_.n_best : 1; }
  double chance(int64_t i, int64_t way) const override;
  void settle(const std::function<void(int64_t number, int32_t token)>& tell) override;

 private:
  void choose(std::vector<Continuation>& ways) override;
  uint64_t key_;
  std::vector<int32_t> number_, next_number_;  // which sample each of the living is
};

}  // namespace attune
