#include "allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
std::atomic<int64_t> g_count{0};

void* take_or_null(std::size_t bytes, std::size_t align) noexcept {
  g_count.fetch_add(1, std::memory_order_relaxed);
  return align <= alignof(std::max_align_t) ? std::malloc(bytes ? bytes : 1)
                                            : std::aligned_alloc(align, (bytes + align - 1) / align * align);
}

void* take(std::size_t bytes, std::size_t align) {
  void* p = take_or_null(bytes, align);
  if (!p) throw std::bad_alloc();
  return p;
}
}  // namespace

namespace attune {
int64_t allocation_count() { return g_count.load(); }
}  // namespace attune

void* operator new(std::size_t n) { return take(n, 1); }
void* operator new[](std::size_t n) { return take(n, 1); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take_or_null(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take_or_null(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return take(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return take(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
