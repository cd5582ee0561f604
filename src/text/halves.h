// What pieces fall apart into: the two shorter ones of the vocabulary that each was made of, for training that shows a
// word now whole and now in parts.
#pragma once
#include <cstdint>
#include <vector>

#include "text/vocabulary.h"

namespace attune::text {

struct Halves {
  int32_t left = -1, right = -1;
  /// False for letters, bytes, marks and words that nothing shorter makes.
  bool any() const { return left >= 0; }
};

/// By id. bpe: the last merge that makes the piece; unigram: the most probable two; wordpiece: the longest that begins
/// it, and the rest. Together they spell what the piece spells.
std::vector<Halves> halves_of_pieces(const Vocabulary& vocabulary);

}  // namespace attune::text
