// The numbers that NumPy's default_rng(seed) draws (O'Neill 2014, PCG XSL-RR 128/64, seeded by her seed_seq), so that
// tests of significance draw the lines that sacreBLEU's draw and come to the same figures. For nothing else:
// base/random.h is simpler, and needs no order.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace attune {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);
  uint64_t next64();
  /// Low half first, then the high half of the same draw.
  uint32_t next32();
  /// As integers(0, n) and choice draw: n from 1 to 2^32 - 1.
  uint32_t below(uint32_t n);
  /// As integers(2, dtype=bool) draws, bit by bit of 32.
  bool bit();

 private:
  using Wide = unsigned __int128;
  void step();
  Wide state_ = 0, increment_ = 0;
  uint32_t half_ = 0, bits_ = 0;
  int left_ = 0;  // of bits_
  bool has_half_ = false;
};

}  // namespace attune
