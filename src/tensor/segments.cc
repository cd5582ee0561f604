#include "tensor/segments.h"

#include <algorithm>

#include "base/error.h"

namespace attune {

Segments Segments::of_lengths(const std::vector<int32_t>& lengths) {
  Segments s;
  s.start.reserve(lengths.size() + 1);
  int64_t rows = 0;
  for (int32_t n : lengths) {
    check(n >= 0, "segments", "sequence {} has length {}", s.count(), n);
    rows += n;
    check(rows <= INT32_MAX, "segments", "more than {} rows in one batch", INT32_MAX);
    s.start.push_back(static_cast<int32_t>(rows));
    s.longest = std::max(s.longest, n);
  }
  return s;
}

}  // namespace attune
