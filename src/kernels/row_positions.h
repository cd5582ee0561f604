// Where rows of a packed batch stand in their sequences: for tables that are read by position.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "tensor/places.h"
#include "tensor/segments.h"

namespace attune {

/// The position of a row of a packed batch: its index within its segment, plus the segment's offset if there are any;
/// or what is told.
struct RowPositions {
  const Segments* segments = nullptr;     // null: all rows are one segment
  std::span<const int32_t> offsets = {};  // one per segment, or none
  Tensor places = {};                     // i32 [rows] or [rows, axes], of which tables by position read the first
};

namespace kernels {

/// The positions of consecutive rows, one after another.
class PositionWalk {
 public:
  PositionWalk(const RowPositions& where, int64_t row) : where_(where), places_(where.places), row_(row) {
    if (!where.segments) return;
    const auto& start = where.segments->start;
    segment_ = std::upper_bound(start.begin(), start.end(), row) - start.begin() - 1;
  }
  int64_t next() {
    if (places_) return places_[row_++];
    int64_t first = 0;
    if (where_.segments) {
      while (row_ >= where_.segments->begin(segment_ + 1)) ++segment_;  // empty segments too
      first = where_.segments->begin(segment_);
    }
    const int64_t offset = where_.offsets.empty() ? 0 : where_.offsets[static_cast<size_t>(segment_)];
    return row_++ - first + offset;
  }

 private:
  const RowPositions& where_;
  RowPlaces places_;
  int64_t row_, segment_ = 0;
};

}  // namespace kernels

/// How many positions there are up to the highest of so many rows, on any axis.
inline int64_t positions_of(const RowPositions& where, int64_t rows) {
  int64_t most = 0;
  if (const RowPlaces places(where.places); places) {
    for (int64_t i = 0; i < rows * places.axes; ++i) most = std::max<int64_t>(most, places.data[i] + 1);
    return most;
  }
  if (!where.segments) return rows;
  for (int64_t s = 0; s < where.segments->count(); ++s)
    most = std::max<int64_t>(
        most, where.segments->length(s) + (where.offsets.empty() ? 0 : where.offsets[static_cast<size_t>(s)]));
  return most;
}

}  // namespace attune
