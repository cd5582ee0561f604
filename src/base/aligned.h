// A block of numbers aligned to a cache line, for what lives as long as a model: parameters, gradients, moments.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace attune {

template <class T>
class Aligned {
 public:
  Aligned() = default;
  /// `size` zeros.
  explicit Aligned(int64_t size) : Aligned(unset(size)) { std::memset(data_.get(), 0, bytes_of(size)); }
  /// The same without the zeros: pages nobody writes to cost nothing.
  static Aligned unset(int64_t size) {
    Aligned a;
    a.data_.reset(static_cast<T*>(::operator new[](bytes_of(size), std::align_val_t(64))));
    a.size_ = size;
    return a;
  }
  T* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  static size_t bytes_of(int64_t size) { return static_cast<size_t>(size) * sizeof(T); }
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  std::unique_ptr<T[], Free> data_;
  int64_t size_ = 0;
};

}  // namespace attune
