// The edits of the translation edit rate: how many words to insert, delete, change, or runs of words to move, to turn
// one sentence into another. A greedy search that takes Tercom's limits and preferences the way sacreBLEU does, and so
// counts the same: a band of 25 words beside the diagonal, runs of at most 10 words moved by at most 50, 1,000 moves
// tried. Time and memory are bounded by these: about a microsecond a word for each move that is tried.
#pragma once
#include <cstdint>
#include <vector>

#include "measure/ngrams.h"

namespace attune {

int64_t shift_edits(const Ids& hypothesis, const Ids& reference);

}  // namespace attune
