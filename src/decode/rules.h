// Rules about what a hypothesis may say next, by what it has said so far. They look at one hypothesis at a time, so a
// sentence stays apart from its batch.
#pragma once
#include <span>
#include <vector>

#include "decode/search.h"

namespace attune {

class Rules {
 public:
  explicit Rules(const SearchOptions& options) : options_(options) {}

  /// Whether any of them asks what was said.
  bool look_back() const { return options_.repetition_penalty != 1 || options_.no_repeat > 0; }
  /// Changes the logits of a row by what was said.
  void weigh(std::span<const int32_t> said, float* logits) const;
  /// Appends what may not come after `length` tokens, `said` where look_back().
  void ban(int64_t length, std::span<const int32_t> said, std::vector<int32_t>& to) const;

 private:
  const SearchOptions& options_;
};

}  // namespace attune
