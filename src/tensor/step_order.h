// Packed sequences walked through one position at a time, all that are long enough together: how recurrent networks go
// by a batch without padding. The longest sequences come first, so those still going on are always the first few.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/segments.h"

namespace attune {

struct StepOrder {
  /// `backwards`: each sequence from its last row to its first.
  explicit StepOrder(const Segments& segments, bool backwards = false);

  std::vector<int32_t> order;   // of the sequences: longest first, of equal ones the first
  std::vector<int32_t> active;  // of each step: how many of them have a row for it
  std::vector<int32_t> row;     // step after step, the row of each active sequence

  int64_t steps() const { return std::ssize(active); }
  int64_t rows() const { return std::ssize(row); }
  /// Those that have a row for this step.
  std::span<const int32_t> sequences(int64_t step) const {
    return std::span(order).first(static_cast<size_t>(active[static_cast<size_t>(step)]));
  }
};

}  // namespace attune
