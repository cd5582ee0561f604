// Rows that attention keeps of its own: they stand in front of those of each sequence, begin as learned vectors and go
// through the blocks of a stack with them, and are gone behind the last (ETC's global rows, BP-Transformer's spans).
#pragma once
#include <cstdint>

namespace attune {

class OwnRows {
 public:
  virtual ~OwnRows() = default;
  /// How many a sequence of so many rows has; more for more.
  virtual int64_t of(int64_t length) const = 0;
  /// So many vectors are learned, ...
  virtual int64_t kinds() const = 0;
  /// ... of which the i-th row in front of such a sequence begins as this one.
  virtual int64_t kind(int64_t length, int64_t i) const = 0;
};

/// Of a sequence with its own rows in front, `all` rows together, how many are its own.
inline int64_t own_among(const OwnRows& rows, int64_t all) {
  int64_t low = 0, high = all;  // the longest sequence that fits
  while (low < high) {
    const int64_t n = (low + high + 1) / 2;
    if (n + rows.of(n) <= all)
      low = n;
    else
      high = n - 1;
  }
  return all - low;
}

}  // namespace attune
