// Tiles of x86's own instructions for int8: vpdpbusd (VNNI) multiplies four unsigned by four signed bytes and adds all
// to 32 bits, without saturating on the way; AMX does the same for tiles of 16 x 16. Highway 1.0 has neither.
#include "kernels/matrix/int8_tiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#define ATTUNE_VNNI512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define ATTUNE_VNNI256 __attribute__((target("avx2,avxvnni")))
#define ATTUNE_AMX __attribute__((target("amx-tile,amx-int8")))

namespace attune::kernels {

namespace {

struct Features {
  bool vnni512 = false, vnni256 = false, amx = false;
  Features() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    vnni512 = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && (c >> 11 & 1);
    amx = (d >> 24 & 1) && (d >> 25 & 1);
    const bool avx2 = __builtin_cpu_supports("avx2");
    vnni256 = a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && avx2 && (a >> 4 & 1);
    if (amx) {  // the kernel lends the tile registers to those who ask
      constexpr long kAskPermission = 0x1023, kTileData = 18;
      amx = vnni512 && syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0;
    }
  }
};
const Features& features() {
  static const Features f;
  return f;
}

int32_t four_bytes(const uint8_t* p) {
  int32_t x;
  std::memcpy(&x, p, 4);
  return x;
}

/// So many bytes ahead of what few rows read is asked for: they use weights up faster than the CPU's own prefetching
/// brings them.
constexpr int64_t kAhead = 4096;

// Sums are integers, so that chains may be cut along k: few rows take several, or the latency of one would show.
template <int R, int S>
ATTUNE_VNNI512 void rows512(int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  __m512i acc[S][R][4];
#pragma GCC unroll 4
  for (int s = 0; s < S; ++s)
#pragma GCC unroll 6
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) acc[s][i][v] = _mm512_setzero_si512();
  for (int64_t p = 0; p < depth; p += 4 * S, b += 256 * S)
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
      __m512i w[4];
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        w[v] = _mm512_loadu_si512(b + 256 * s + 64 * v);
        if (R < 6) _mm_prefetch(b + 256 * s + 64 * v + kAhead, _MM_HINT_T0);
      }
#pragma GCC unroll 6
      for (int i = 0; i < R; ++i) {
        const __m512i x = _mm512_set1_epi32(four_bytes(a + i * a_stride + p + 4 * s));
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) acc[s][i][v] = _mm512_dpbusd_epi32(acc[s][i][v], x, w[v]);
      }
    }
#pragma GCC unroll 6
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
#pragma GCC unroll 4
      for (int s = 1; s < S; ++s) acc[0][i][v] = _mm512_add_epi32(acc[0][i][v], acc[s][i][v]);
      _mm512_storeu_si512(sums + i * 64 + v * 16, acc[0][i][v]);
    }
}

void tile512(int rows, int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  switch (rows) {
    case 1:
      return rows512<1, 4>(depth, a, a_stride, b, sums);
    case 2:
      return rows512<2, 2>(depth, a, a_stride, b, sums);
    case 3:
      return rows512<3, 1>(depth, a, a_stride, b, sums);
    case 4:
      return rows512<4, 1>(depth, a, a_stride, b, sums);
    case 5:
      return rows512<5, 1>(depth, a, a_stride, b, sums);
    default:
      return rows512<6, 1>(depth, a, a_stride, b, sums);
  }
}

template <int R, int S>
ATTUNE_VNNI256 void rows256(int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  __m256i acc[S][R][2];
#pragma GCC unroll 4
  for (int s = 0; s < S; ++s)
#pragma GCC unroll 6
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) acc[s][i][v] = _mm256_setzero_si256();
  for (int64_t p = 0; p < depth; p += 4 * S, b += 64 * S)
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) {
      __m256i w[2];
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) w[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 64 * s + 32 * v));
#pragma GCC unroll 6
      for (int i = 0; i < R; ++i) {
        const __m256i x = _mm256_set1_epi32(four_bytes(a + i * a_stride + p + 4 * s));
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v) acc[s][i][v] = _mm256_dpbusd_avx_epi32(acc[s][i][v], x, w[v]);
      }
    }
#pragma GCC unroll 6
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
#pragma GCC unroll 4
      for (int s = 1; s < S; ++s) acc[0][i][v] = _mm256_add_epi32(acc[0][i][v], acc[s][i][v]);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + i * 16 + v * 8), acc[0][i][v]);
    }
}

void tile256(int rows, int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  switch (rows) {
    case 1:
      return rows256<1, 4>(depth, a, a_stride, b, sums);
    case 2:
      return rows256<2, 2>(depth, a, a_stride, b, sums);
    case 3:
      return rows256<3, 2>(depth, a, a_stride, b, sums);
    case 4:
      return rows256<4, 1>(depth, a, a_stride, b, sums);
    case 5:
      return rows256<5, 1>(depth, a, a_stride, b, sums);
    default:
      return rows256<6, 1>(depth, a, a_stride, b, sums);
  }
}

/// The layout of the tile registers: 0 to 3 sums, 4 rows of A, 5 to 7 weights.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};

ATTUNE_AMX void begin_amx(int rows) {
  TileConfig config;
  for (int t = 0; t < 8; ++t) {
    config.bytes[t] = 64;
    config.rows[t] = static_cast<uint8_t>(t < 5 ? rows : 16);
  }
  asm volatile("" : : "r"(&config) : "memory");  // g++ 12 thinks that the first 8 bytes alone are read
  _tile_loadconfig(&config);
}

ATTUNE_AMX void end_amx() { _tile_release(); }

ATTUNE_AMX void tile_amx(int, int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t p = 0; p < depth; p += 64, b += 64 * 64) {
    _tile_loadd(4, a + p, a_stride);
    _tile_loadd(5, b, 256);
    _tile_loadd(6, b + 64, 256);
    _tile_dpbusd(0, 4, 5);
    _tile_loadd(7, b + 128, 256);
    _tile_dpbusd(1, 4, 6);
    _tile_loadd(5, b + 192, 256);
    _tile_dpbusd(2, 4, 7);
    _tile_dpbusd(3, 4, 5);
  }
  _tile_stored(0, sums, 256);
  _tile_stored(1, sums + 16, 256);
  _tile_stored(2, sums + 32, 256);
  _tile_stored(3, sums + 48, 256);
}

}  // namespace

const Int8Tiles* int8_vnni512() {
  static constexpr Int8Tiles tiles{"vnni", 64, 4, 1, 6, tile512};
  return features().vnni512 ? &tiles : nullptr;
}
const Int8Tiles* int8_vnni256() {
  static constexpr Int8Tiles tiles{"vnni", 16, 4, 1, 6, tile256};
  return features().vnni256 ? &tiles : nullptr;
}
const Int8Tiles* int8_amx() {
  static constexpr Int8Tiles tiles{"amx", 64, 4, 1, 6, tile512, 8, tile_amx, begin_amx, end_amx};
  return features().amx ? &tiles : nullptr;
}

}  // namespace attune::kernels

#else
namespace attune::kernels {
const Int8Tiles* int8_vnni512() { return nullptr; }
const Int8Tiles* int8_vnni256() { return nullptr; }
const Int8Tiles* int8_amx() { return nullptr; }
}  // namespace attune::kernels
#endif
