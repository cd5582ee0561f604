#include "tensor/tensor.h"

#include "base/error.h"

namespace attune {

const char* name_of(DType type) {
  constexpr const char* names[] = {"f32", "f64", "i32", "i8", "bf16"};
  return names[static_cast<int>(type)];
}

int64_t bytes_of(DType type) {
  constexpr int64_t bytes[] = {4, 8, 4, 1, 2};
  return bytes[static_cast<int>(type)];
}

Shape::Shape(std::initializer_list<int64_t> dims) {
  check(dims.size() <= dims_.size(), "shape", "{} dimensions, at most 4 are possible", dims.size());
  for (int64_t d : dims) {
    check(d >= 0, "shape", "dimension {} is negative: {}", rank_, d);
    dims_[static_cast<size_t>(rank_++)] = d;
  }
}

int64_t Shape::size() const {
  int64_t n = 1;
  for (int i = 0; i < rank_; ++i) n *= (*this)[i];
  return n;
}

int64_t Shape::rows() const {
  int64_t n = 1;
  for (int i = 0; i + 1 < rank_; ++i) n *= (*this)[i];
  return n;
}

bool Shape::operator==(const Shape& other) const {
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i)
    if ((*this)[i] != other[i]) return false;
  return true;
}

std::string Shape::text() const {
  std::string s = "[";
  for (int i = 0; i < rank_; ++i) s += (i ? ", " : "") + std::to_string((*this)[i]);
  return s + "]";
}

Tensor Tensor::columns(int64_t from, int64_t count) const {
  check(from >= 0 && count >= 0 && from + count <= cols(), "columns", "columns {} to {} of a tensor with {}", from,
        from + count, cols());
  Tensor t = *this;
  t.data = static_cast<char*>(data) + from * bytes_of(dtype);
  if (t.shape.rank() == 0) t.shape = Shape{1};
  t.shape[t.shape.rank() - 1] = count;
  return t;
}

Tensor Tensor::row_range(int64_t from, int64_t count) const {
  check(from >= 0 && count >= 0 && from + count <= rows(), "row_range", "rows {} to {} of a tensor with {}", from,
        from + count, rows());
  Tensor t = *this;
  t.data = static_cast<char*>(data) + from * stride * bytes_of(dtype);
  t.shape = Shape{count, cols()};
  return t;
}

}  // namespace attune
