// Numbers of 16 bits, for storage: IEEE half precision (f16) and the upper half of a float (bf16).
#pragma once
#include <bit>
#include <cstdint>

namespace attune {

/// Nearest even; what is too large becomes infinite.
inline uint16_t f16_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // not a number
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // 65,520 and more
  const uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return static_cast<uint16_t>(sign);  // below half of the smallest
  const bool small = exponent < 113;                       // denormal as f16
  const uint32_t whole = small ? (magnitude & 0x7fffff) | 0x800000 : magnitude - (112u << 23);
  const uint32_t shift = small ? 126 - exponent : 13;
  const uint32_t kept = whole >> shift, rest = whole & ((1u << shift) - 1), half = 1u << (shift - 1);
  return static_cast<uint16_t>(sign | (kept + (rest > half || (rest == half && (kept & 1)))));
}

/// Exact.
inline float of_f16(uint16_t h) {
  const uint32_t sign = uint32_t{h & 0x8000u} << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -small : small;
}
inline float of_bf16(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }

}  // namespace attune
