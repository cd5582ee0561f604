// Where rows stand, told explicitly: for rows that were rearranged, pooled or laid on a grid.
#pragma once
#include <cstdint>

#include "tensor/tensor.h"

namespace attune {

/// The places of rows that lie one after another, on `axes` axes each: i32 [rows, axes], a view. What counts distances
/// along one axis takes the first.
struct RowPlaces {
  const int32_t* data = nullptr;
  int64_t axes = 1;

  RowPlaces() = default;
  RowPlaces(const int32_t* d, int64_t a) : data(d), axes(a) {}
  /// [rows] or [rows, axes], or none.
  explicit RowPlaces(const Tensor& t) : data(t.as<int32_t>()), axes(t.shape.rank() > 1 ? t.cols() : 1) {}

  explicit operator bool() const { return data != nullptr; }
  int64_t operator[](int64_t row) const { return data[row * axes]; }
  /// Counted along another axis than the first.
  RowPlaces axis(int64_t a) const { return data ? RowPlaces(data + a, axes) : *this; }
  /// Those from this row on.
  RowPlaces from(int64_t row) const { return data ? RowPlaces(data + row * axes, axes) : *this; }
};

/// How many rows a tensor of places has, [rows] or [rows, axes].
inline int64_t placed_rows(const Tensor& t) { return t.shape.rank() > 1 ? t.rows() : t.size(); }

}  // namespace attune
