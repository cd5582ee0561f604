#include "measure/numpy_random.h"

#include <bit>
#include <cstddef>

namespace attune {

namespace {

/// Spreads a seed over as many words as wanted.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t seed) {
    const uint32_t entropy[] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    uint32_t constant = 0x43b0d7e5;
    const auto hash = [&](uint32_t value) {
      value ^= constant;
      constant *= 0x931e8875;
      value *= constant;
      return value ^ value >> 16;
    };
    for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(i < 2 ? entropy[i] : 0);
    for (std::size_t from = 0; from < pool_.size(); ++from)
      for (std::size_t to = 0; to < pool_.size(); ++to) {
        if (from == to) continue;
        const uint32_t mixed = 0xca01f9dd * pool_[to] - 0x4973f715 * hash(pool_[from]);
        pool_[to] = mixed ^ mixed >> 16;
      }
  }
  uint64_t next64() {
    const uint64_t low = next32();
    return low | uint64_t{next32()} << 32;
  }

 private:
  uint32_t next32() {
    uint32_t value = pool_[at_++ % pool_.size()] ^ constant_;
    constant_ *= 0x58f38ded;
    value *= constant_;
    return value ^ value >> 16;
  }
  std::array<uint32_t, 4> pool_{};
  uint32_t constant_ = 0x8b51f9dd;
  std::size_t at_ = 0;
};

}  // namespace

NumpyRandom::NumpyRandom(uint64_t seed) {
  SeedSequence sequence(seed);
  const auto wide = [&] {
    const Wide high = sequence.next64();
    return high << 64 | sequence.next64();
  };
  const Wide start = wide();
  increment_ = wide() << 1 | 1;
  step();
  state_ += start;
  step();
}

void NumpyRandom::step() {
  constexpr Wide kMultiplier = Wide{0x2360ed051fc65da4} << 64 | 0x4385df649fccf645;
  state_ = state_ * kMultiplier + increment_;
}

uint64_t NumpyRandom::next64() {
  step();
  return std::rotr(static_cast<uint64_t>(state_ >> 64) ^ static_cast<uint64_t>(state_),
                   static_cast<int>(state_ >> 122));
}

uint32_t NumpyRandom::next32() {
  has_half_ = !has_half_;
  if (!has_half_) return half_;
  const uint64_t both = next64();
  half_ = static_cast<uint32_t>(both >> 32);
  return static_cast<uint32_t>(both);
}

uint32_t NumpyRandom::below(uint32_t n) {
  if (n <= 1) return 0;
  uint64_t product = uint64_t{next32()} * n;
  // Lemire 2019, "Fast random integer generation in an interval".
  if (static_cast<uint32_t>(product) < n)
    for (const uint32_t least = -n % n; static_cast<uint32_t>(product) < least;) product = uint64_t{next32()} * n;
  return static_cast<uint32_t>(product >> 32);
}

bool NumpyRandom::bit() {
  if (left_ == 0) {
    bits_ = next32();
    left_ = 32;
  }
  const bool out = bits_ & 1;
  bits_ >>= 1;
  --left_;
  return out;
}

}  // namespace attune
