// Packed batches of pictures: all rows of all grids one after another, no padding.
#pragma once
#include <cstdint>
#include <vector>

#include "tensor/segments.h"

namespace attune {

struct GridSize {
  int32_t height = 0, width = 0;
  bool operator==(const GridSize&) const = default;
};

/// Segment i is a grid of sizes[i], one line after another: point (y, x) is its row y * width + x. Sizes may differ,
/// and a grid may be empty.
struct Grids {
  Segments segments;
  std::vector<GridSize> sizes;

  Grids() = default;
  static Grids of_sizes(std::vector<GridSize> sizes);

  int64_t count() const { return segments.count(); }
  int64_t rows() const { return segments.rows(); }
};

}  // namespace attune
