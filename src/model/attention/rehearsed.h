// Sequences for a rehearsal, which does not know how many there will be, only how many rows.
#pragma once
#include <algorithm>
#include <memory>

#include "autograd/tape.h"
#include "tensor/segments.h"

namespace attune {

/// While rehearsing as many sequences of `least` rows as there can be, for who has rows of its own for each, the
/// longest as long as the one at hand, by which scratch goes; else none.
inline std::shared_ptr<const Segments> rehearsed_segments(Ctx& ctx, const Segments& at_hand, int64_t least) {
  const int64_t rows = at_hand.rows();
  if (!ctx.arena.rehearsing()) return nullptr;
  std::vector<int32_t> lengths(static_cast<size_t>(rows / least), static_cast<int32_t>(least));
  lengths.push_back(static_cast<int32_t>(rows % least));
  Segments many = Segments::of_lengths(lengths);
  many.longest = std::max(many.longest, at_hand.longest);
  return keep(ctx, std::move(many));
}

}  // namespace attune
