// Sequences for a rehearsal, which does not know how many there will be, only how many rows.
#pragma once
#include <memory>

#include "autograd/tape.h"
#include "tensor/segments.h"

namespace attune {

/// While rehearsing as many sequences of `least` rows as there can be, for who has rows of its own for each; else none.
inline std::shared_ptr<const Segments> rehearsed_segments(Ctx& ctx, int64_t rows, int64_t least) {
  if (!ctx.arena.rehearsing()) return nullptr;
  std::vector<int32_t> lengths(static_cast<size_t>(rows / least), static_cast<int32_t>(least));
  lengths.push_back(static_cast<int32_t>(rows % least));
  return keep(ctx, Segments::of_lengths(lengths));
}

}  // namespace attune
