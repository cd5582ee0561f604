// Pieces that fall apart at random into those they were made of, anew in every epoch, so that a model learns what words
// are made of. On ids alone, with the trees of the merges: nothing is encoded again, and a corpus on the disk serves as
// well.
//
// From: Provilkov, Emelianenko, Voita 2020, "BPE-Dropout: simple and effective subword regularization". There merges
// are left out from below; here they are undone from above, each with the same chance, which gives a part of the same
// ways to cut a word.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "text/halves.h"

namespace attune {

/// One side of a corpus: how its pieces fall apart; nothing where they do not.
using PieceHalves = std::shared_ptr<const std::vector<text::Halves>>;

/// A sentence in parts; its memory is used again.
struct FallenApart {
  std::vector<int32_t> ids;
  std::vector<int32_t> start;  // where the parts of each piece begin, and the end of the last
};

/// Undoes each merge with the chance `rate`, then those that made its parts likewise. A sentence that would get longer
/// than `longest` stays whole.
void drop_pieces(std::span<const int32_t> sentence, const std::vector<text::Halves>& halves, double rate,
                 int64_t longest, Random& random, FallenApart& to);

}  // namespace attune
