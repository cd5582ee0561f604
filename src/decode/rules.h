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

  /// Changes the logits of a row by what was said, which loses its order.
  void weigh(std::vector<int32_t>& said, float* logits) const;
  /// Appends what may not come after `length` tokens; `said` is looked at for no_repeat alone.
  void ban(int64_t length, std::span<const int32_t> said, std::vector<int32_t>& to) const;

 private:
  const SearchOptions& options_;
};

}  // namespace attune
