// What plain operations demand of their operands, said the same way everywhere.
#pragma once
#include "autograd/tape.h"
#include "base/error.h"
#include "kernels/row_positions.h"

namespace attune {

inline void check_given(const char* op, const char* what, const Var& x) {
  check(static_cast<bool>(x), op, "{} is missing", what);
}

/// A number one can calculate with: f32 or f64.
inline void check_real(const char* op, const char* what, const Var& x) {
  check_given(op, what, x);
  check(x.dtype() == DType::f32 || x.dtype() == DType::f64, op, "{} is {}, not f32 or f64", what, name_of(x.dtype()));
}

inline void check_same_type(const char* op, const Var& left, const Var& right) {
  check(left.dtype() == right.dtype(), op, "left is {}, right is {}", name_of(left.dtype()), name_of(right.dtype()));
}

inline void check_ids(const char* op, const Var& ids) {
  check_given(op, "ids", ids);
  check(ids.dtype() == DType::i32, op, "ids are {}, not i32", name_of(ids.dtype()));
  check(ids.value().contiguous(), op, "ids do not lie side by side");
}

inline void check_rank(const char* op, const char* what, const Var& x, int least, int most) {
  const int rank = x.shape().rank();
  check(rank >= least && rank <= most, op, "{} has {} dimensions, not {} to {}", what, rank, least, most);
}

inline void check_segments(const char* op, const Segments& segments, const Var& x) {
  check(segments.rows() == x.rows(), op, "the segments have {} rows, the values {}", segments.rows(), x.rows());
}

/// The positions of n rows must be rows of a table.
inline void check_row_positions(const char* op, const RowPositions& where, int64_t n, int64_t table_rows) {
  const auto& [segments, offsets, places] = where;
  if (places) {
    check(places.dtype == DType::i32 && places.contiguous(), op, "places are not i32 side by side");
    check(placed_rows(places) == n, op, "{} places for {} rows", placed_rows(places), n);
    return;  // what they hold may not be known yet: see check_told_places
  }
  const int64_t count = segments ? segments->count() : 1;
  check(offsets.empty() || std::ssize(offsets) == count, op, "{} offsets for {} segments", offsets.size(), count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = segments ? segments->length(i) : n;
    const int64_t offset = offsets.empty() ? 0 : offsets[static_cast<size_t>(i)];
    if (length > 0)
      check(offset >= 0 && offset + length <= table_rows, op,
            "segment {} has the positions {} to {}, the table of positions has {} rows", i, offset, offset + length - 1,
            table_rows);
  }
}

/// Where numbers may be looked at: whether the table reaches as far as the places that are told.
inline void check_told_places(const char* op, const RowPositions& where, int64_t table_rows) {
  const RowPlaces places(where.places);
  for (int64_t i = 0; places && i < placed_rows(where.places); ++i)
    check(places[i] >= 0 && places[i] < table_rows, op, "row {} stands at {}, the table of positions has {} rows", i,
          places[i], table_rows);
}

}  // namespace attune
