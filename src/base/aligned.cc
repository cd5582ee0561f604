#include "base/aligned.h"

#include <sys/mman.h>

#include <new>

namespace attune {

void* allocate_aligned(size_t bytes) {
  constexpr size_t kLine = 64, kHugePage = size_t{2} << 20;
  const size_t align = bytes >= 2 * kHugePage ? kHugePage : kLine;
  void* p = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!p) throw std::bad_alloc();
  if (align == kHugePage) madvise(p, bytes, MADV_HUGEPAGE);  // a wish: without it everything works, slower
  return p;
}

}  // namespace attune
