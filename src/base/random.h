// Counter-based random numbers: a value is a pure function of (key, counter), so nothing is stored, nothing depends on
// threads or order, and a run resumes exactly.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/portable_math.h"

namespace attune {

/// A strong 64-bit mixer (the finaliser of splitmix64).
constexpr uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Derives a key from a key and a label: key of a run -> of a step -> of a layer -> of a row.
constexpr uint64_t mix(uint64_t key, uint64_t label) { return mix(key + 0x9e3779b97f4a7c15ull * (label + 1)); }

/// A stream of numbers under one key. Copy it freely; `at` reads any position without moving.
class Random {
 public:
  explicit Random(uint64_t key) : key_(mix(key)) {}
  uint64_t at(uint64_t counter) const { return mix(key_, counter); }
  uint64_t next() { return at(counter_++); }
  /// In [0, 1), 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, n), without bias worth mentioning.
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64); }
  /// Standard normal (Box-Muller, one of the pair).
  double normal() {
    const double u = 1.0 - uniform(), v = uniform();
    return std::sqrt(-2.0 * portable::log(u)) * portable::cos(6.283185307179586 * v);
  }
  uint64_t position() const { return counter_; }
  void seek(uint64_t counter) { counter_ = counter; }

 private:
  uint64_t key_;
  uint64_t counter_ = 0;
};

/// Which elements an operation drops: element (row, column) is kept by a hash of (key, first_row + row, column) alone.
/// `first_row` is the row's place in the whole batch, so that the mask does not depend on how a batch is cut in shards.
struct Dropout {
  float rate = 0;
  uint64_t key = 0;
  int64_t first_row = 0;
  bool on() const { return rate > 0; }
};

/// The 64-bit key of one row under a Dropout.
constexpr uint64_t row_key(const Dropout& d, int64_t row) {
  return mix(d.key, static_cast<uint64_t>(d.first_row + row));
}

/// The 16 random bits that decide element `column` of a row. The vector form in kernels/dropout.h computes the same.
constexpr uint32_t dropout_bits(uint64_t key, uint32_t column) {
  // 32 columns share 16 words: columns 0-15 take the low halves, 16-31 the high halves.
  uint32_t h = ((column >> 5) << 4 | (column & 15)) * 0x9e3779b1u + static_cast<uint32_t>(key);
  h ^= h >> 16;
  h *= 0x7feb352du;
  h ^= static_cast<uint32_t>(key >> 32);
  h ^= h >> 15;
  h *= 0x846ca68bu;
  h ^= h >> 16;
  return column & 16 ? h >> 16 : h & 0xffff;
}

/// An element is dropped when its bits fall below this.
constexpr uint32_t dropout_threshold(float rate) { return static_cast<uint32_t>(rate * 65536.0f + 0.5f); }
/// What a kept element is multiplied by: the inverse of the exact share that is kept.
constexpr float dropout_scale(float rate) { return 65536.0f / static_cast<float>(65536 - dropout_threshold(rate)); }
constexpr bool dropped(const Dropout& d, int64_t row, uint32_t column) {
  return dropout_bits(row_key(d, row), column) < dropout_threshold(d.rate);
}

}  // namespace attune
