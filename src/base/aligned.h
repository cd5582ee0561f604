// A block of numbers aligned to a cache line, for what lives as long as a model: parameters, gradients, moments.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace attune {

/// Free it by std::free. Large blocks ask for huge pages: walking them costs a hundredth of the page table lookups.
/// Throws std::bad_alloc.
void* allocate_aligned(size_t bytes);

template <class T>
class Aligned {
 public:
  Aligned() = default;
  /// `size` zeros.
  explicit Aligned(int64_t size) : Aligned(unset(size)) { std::memset(data_.get(), 0, bytes_of(size)); }
  /// The same without the zeros: pages nobody writes to cost nothing.
  static Aligned unset(int64_t size) {
    Aligned a;
    a.data_.reset(static_cast<T*>(allocate_aligned(bytes_of(size))));
    a.size_ = size;
    return a;
  }
  T* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  static size_t bytes_of(int64_t size) { return static_cast<size_t>(size) * sizeof(T); }
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  int64_t size_ = 0;
};

}  // namespace attune
