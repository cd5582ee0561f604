// What plain operations demand of their operands, said the same way everywhere.
#pragma once
#include "autograd/tape.h"
#include "base/error.h"

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

}  // namespace attune
