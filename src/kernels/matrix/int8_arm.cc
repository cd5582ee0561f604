// Tiles of ARM's own instructions for int8: sdot multiplies four signed bytes by four and adds them to 32 bits, usdot
// (of i8mm) does it with unsigned ones on one side, which is what rows of A are. Highway 1.0 has neither.
#include "kernels/matrix/int8_tiles.h"

#if defined(__aarch64__) && defined(__linux__)
#include <arm_neon.h>
#include <sys/auxv.h>

#include <cstring>

#ifdef __clang__
#define ATTUNE_DOTPROD __attribute__((target("dotprod")))
#define ATTUNE_I8MM __attribute__((target("i8mm")))
#else
#define ATTUNE_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))
#define ATTUNE_I8MM __attribute__((target("arch=armv8.2-a+i8mm")))
#endif

namespace attune::kernels {

namespace {

constexpr int kPanel = 16, kRegs = 4;  // columns; registers of four columns each

bool has_dotprod() { return (getauxval(AT_HWCAP) >> 20 & 1) != 0; }
bool has_i8mm() { return (getauxval(AT_HWCAP2) >> 13 & 1) != 0; }

int32_t four_bytes(const uint8_t* p) {
  int32_t x;
  std::memcpy(&x, p, 4);
  return x;
}

/// Rows of A are made signed: a = (a - 128) + 128, and the sum of b, times 128, is added in the end.
template <int R>
ATTUNE_DOTPROD void dot_rows(int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  int32x4_t acc[R][kRegs], of_b[kRegs];
  const int8x16_t ones = vdupq_n_s8(1);
  const uint8x16_t half = vdupq_n_u8(128);
#pragma GCC unroll 4
  for (int v = 0; v < kRegs; ++v) {
    of_b[v] = vdupq_n_s32(0);
#pragma GCC unroll 5
    for (int i = 0; i < R; ++i) acc[i][v] = vdupq_n_s32(0);
  }
  for (int64_t p = 0; p < depth; p += 4, b += 4 * kPanel) {
    int8x16_t w[kRegs];
#pragma GCC unroll 4
    for (int v = 0; v < kRegs; ++v) {
      w[v] = vld1q_s8(b + 16 * v);
      of_b[v] = vdotq_s32(of_b[v], ones, w[v]);
    }
#pragma GCC unroll 5
    for (int i = 0; i < R; ++i) {
      const uint8x16_t x = vreinterpretq_u8_s32(vdupq_n_s32(four_bytes(a + i * a_stride + p)));
      const int8x16_t of_a = vreinterpretq_s8_u8(veorq_u8(x, half));
#pragma GCC unroll 4
      for (int v = 0; v < kRegs; ++v) acc[i][v] = vdotq_s32(acc[i][v], of_a, w[v]);
    }
  }
#pragma GCC unroll 5
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < kRegs; ++v) vst1q_s32(sums + i * kPanel + 4 * v, vaddq_s32(acc[i][v], vshlq_n_s32(of_b[v], 7)));
}

template <int R>
ATTUNE_I8MM void mixed_rows(int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  int32x4_t acc[R][kRegs];
#pragma GCC unroll 6
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < kRegs; ++v) acc[i][v] = vdupq_n_s32(0);
  for (int64_t p = 0; p < depth; p += 4, b += 4 * kPanel) {
    int8x16_t w[kRegs];
#pragma GCC unroll 4
    for (int v = 0; v < kRegs; ++v) w[v] = vld1q_s8(b + 16 * v);
#pragma GCC unroll 6
    for (int i = 0; i < R; ++i) {
      const uint8x16_t x = vreinterpretq_u8_s32(vdupq_n_s32(four_bytes(a + i * a_stride + p)));
#pragma GCC unroll 4
      for (int v = 0; v < kRegs; ++v) acc[i][v] = vusdotq_s32(acc[i][v], x, w[v]);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < kRegs; ++v) vst1q_s32(sums + i * kPanel + 4 * v, acc[i][v]);
}

void dot_tile(int rows, int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  constexpr decltype(&dot_rows<1>) table[] = {dot_rows<1>, dot_rows<2>, dot_rows<3>, dot_rows<4>, dot_rows<5>};
  table[rows - 1](depth, a, a_stride, b, sums);
}

void mixed_tile(int rows, int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  constexpr decltype(&mixed_rows<1>) table[] = {mixed_rows<1>, mixed_rows<2>, mixed_rows<3>,
                                                mixed_rows<4>, mixed_rows<5>, mixed_rows<6>};
  table[rows - 1](depth, a, a_stride, b, sums);
}

}  // namespace

const Int8Tiles* int8_dotprod() {
  static constexpr Int8Tiles tiles{"dotprod", kPanel, 4, 1, 5, dot_tile};
  return has_dotprod() ? &tiles : nullptr;
}
const Int8Tiles* int8_i8mm() {
  static constexpr Int8Tiles tiles{"i8mm", kPanel, 4, 1, 6, mixed_tile};
  return has_i8mm() ? &tiles : nullptr;
}

}  // namespace attune::kernels

#else
namespace attune::kernels {
const Int8Tiles* int8_dotprod() { return nullptr; }
const Int8Tiles* int8_i8mm() { return nullptr; }
}  // namespace attune::kernels
#endif
