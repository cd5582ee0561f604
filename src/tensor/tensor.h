// Shapes, element types and tensors. A Tensor is a view: it never owns memory (the Arena does) and is cheap to copy.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

namespace attune {

/// f32 is what runs; f64 is what checks it; i32 holds ids; i8 and bf16 are storage.
enum class DType : uint8_t { f32, f64, i32, i8, bf16 };

const char* name_of(DType type);
int64_t bytes_of(DType type);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::bf16;
}

/// Up to four dimensions, the last one fastest.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);
  int rank() const { return rank_; }
  int64_t operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return dims_[static_cast<size_t>(i)]; }
  int64_t size() const;
  /// The last dimension; 1 for a scalar.
  int64_t cols() const { return rank_ ? dims_[static_cast<size_t>(rank_ - 1)] : 1; }
  /// The product of all dimensions but the last.
  int64_t rows() const;
  bool operator==(const Shape& other) const;
  std::string text() const;  // "[12, 512]"

 private:
  std::array<int64_t, 4> dims_{};
  int rank_ = 0;
};

/// A view of numbers. Rows (all dimensions but the last, flattened) lie `stride` elements apart, so a range of columns
/// of a matrix is a Tensor too.
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  int64_t stride = 0;

  Tensor() = default;
  Tensor(void* d, DType t, const Shape& s) : data(d), dtype(t), shape(s), stride(s.cols()) {}
  template <class T>
  Tensor(T* d, const Shape& s)
      : Tensor(const_cast<std::remove_const_t<T>*>(d), dtype_of<std::remove_const_t<T>>(), s) {}

  int64_t rows() const { return shape.rows(); }
  int64_t cols() const { return shape.cols(); }
  int64_t size() const { return shape.size(); }
  bool contiguous() const { return stride == cols() || rows() <= 1; }
  explicit operator bool() const { return data != nullptr; }

  /// The elements; the caller has checked the dtype.
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  template <class T>
  T* row(int64_t i) const {
    return static_cast<T*>(data) + i * stride;
  }
  /// Columns [from, from + count) of every row: the same memory.
  Tensor columns(int64_t from, int64_t count) const;
  /// Rows [from, from + count) of the flattened rows, as a matrix: the same memory.
  Tensor row_range(int64_t from, int64_t count) const;
};

/// Calls f with a value of the element type (float or double): `by_type(x, [&](auto t) { using T = decltype(t); ...
/// })`.
template <class F>
auto by_type(DType type, F&& f) {
  return type == DType::f64 ? f(double{}) : f(float{});
}

}  // namespace attune
