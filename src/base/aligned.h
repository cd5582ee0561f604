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
  explicit Aligned(int64_t size) : size_(size) {
    const auto bytes = static_cast<size_t>(size) * sizeof(T);
    data_.reset(static_cast<T*>(::operator new[](bytes, std::align_val_t(64))));
    std::memset(data_.get(), 0, bytes);
  }
  T* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  std::unique_ptr<T[], Free> data_;
  int64_t size_ = 0;
};

}  // namespace attune
