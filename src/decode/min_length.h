// No end before so many tokens.
#pragma once
#include "decode/logits_processor.h"

namespace attune {

class MinLength : public LogitsProcessor {
 public:
  MinLength(int64_t shortest, int32_t end) : shortest_(shortest), end_(end) {}
  void ban(int64_t length, std::span<const int32_t>, std::vector<int32_t>& to) const override {
    if (length < shortest_) to.push_back(end_);
  }

 private:
  int64_t shortest_;
  int32_t end_;
};

}  // namespace attune
