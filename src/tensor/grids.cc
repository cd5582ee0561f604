#include "tensor/grids.h"

#include <utility>

#include "base/error.h"

namespace attune {

Grids Grids::of_sizes(std::vector<GridSize> sizes) {
  std::vector<int32_t> lengths;
  lengths.reserve(sizes.size());
  for (const GridSize& s : sizes) {
    check(s.height >= 0 && s.width >= 0, "grids", "grid {} is {} x {}", lengths.size(), s.height, s.width);
    const int64_t rows = int64_t{s.height} * s.width;
    check(rows <= INT32_MAX, "grids", "grid {} has {} rows, more than {}", lengths.size(), rows, INT32_MAX);
    lengths.push_back(static_cast<int32_t>(rows));
  }
  Grids g;
  g.segments = Segments::of_lengths(lengths);
  g.sizes = std::move(sizes);
  return g;
}

}  // namespace attune
