// The register tile every matrix product is made of: up to 6 rows times up to four registers of columns.
//
//   C[i, j] (+)= sum over p of A[i, p] B[p, j]
//
// Each output is one chain of fused multiply-adds over p in ascending order, starting from 0 or from what C holds. So
// an output's bits depend on its row of A and its column of B alone: not on its neighbours, the tile, the blocking of k
// (the chain goes on through memory) or the vector width. Include after kernels/simd.h; compiled once per instruction
// set.
#if defined(ATTUNE_TILE_PER_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_TILE_PER_TARGET
#undef ATTUNE_TILE_PER_TARGET
#else
#define ATTUNE_TILE_PER_TARGET
#endif

#include <algorithm>

KERNELS_BEGIN

inline constexpr int kTileRows = 6;
#if HWY_TARGET == HWY_SCALAR
inline constexpr int kTileLanes = 16, kTileRegs = 1, kRowPanels = 1;  // plain loops over sixteen columns
#else
inline constexpr int kTileLanes = kLanes;
inline constexpr int kTileRegs = kLanes == 8 ? 2 : 4;    // 12 or 24 accumulators, the rest for A and B
inline constexpr int kRowPanels = kLanes == 16 ? 2 : 4;  // panels at once when A has a single row
#endif
inline constexpr int kPanel = kTileRegs * kTileLanes;  // columns of one panel of a packed B: 64 on AVX-512, else 16
/// Few rows use up B faster than the CPU's own prefetching brings it: so many floats ahead of what is read, 4 KB, is
/// asked for. More rows have the time, and no load to spare.
inline constexpr int64_t kAhead = 1024;

#if HWY_TARGET == HWY_SCALAR

template <int R, int V, bool kTransA>
void tile(int64_t k, const float* HWY_RESTRICT a, int64_t a_stride, const float* HWY_RESTRICT b, int64_t b_stride,
          float* HWY_RESTRICT c, int64_t c_stride, bool add) {
  float acc[R][kPanel] = {};
  for (int i = 0; i < R && add; ++i)
    for (int j = 0; j < kPanel; ++j) acc[i][j] = c[i * c_stride + j];
  for (int64_t p = 0; p < k; ++p, b += b_stride)
    for (int i = 0; i < R; ++i) {
      const float x = kTransA ? a[p * a_stride + i] : a[i * a_stride + p];
      for (int j = 0; j < kPanel; ++j) acc[i][j] += x * b[j];
    }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < kPanel; ++j) c[i * c_stride + j] = acc[i][j];
}

HWY_INLINE void row_tile(int64_t k, const float* a, const float* b, int64_t, float* c, bool add) {
  tile<1, 1, false>(k, a, 0, b, kPanel, c, 0, add);
}

#else

/// Four numbers at column c of each of rows i, i + 4, i + 8, ...
HWY_INLINE FVec load_blocks(const float* const* row, int i, int64_t c) {
  const hn::FixedTag<float, 4> f4;
#if HWY_MAX_BYTES >= 64
  const hn::FixedTag<float, 8> f8;
  const auto low = hn::Combine(f8, hn::LoadU(f4, row[i + 4] + c), hn::LoadU(f4, row[i] + c));
  const auto high = hn::Combine(f8, hn::LoadU(f4, row[i + 12] + c), hn::LoadU(f4, row[i + 8] + c));
  return hn::Combine(F(), high, low);
#elif HWY_MAX_BYTES >= 32
  return hn::Combine(F(), hn::LoadU(f4, row[i + 4] + c), hn::LoadU(f4, row[i] + c));
#else
  return hn::LoadU(f4, row[i] + c);
#endif
}

/// One tile. A[i, p] is a[i * a_stride + p], or with kTransA a[p * a_stride + i]; rows of B and C lie b_stride and
/// c_stride apart and V whole registers of them are read and written.
template <int R, int V, bool kTransA>
HWY_NOINLINE void tile(int64_t k, const float* HWY_RESTRICT a, int64_t a_stride, const float* HWY_RESTRICT b,
                       int64_t b_stride, float* HWY_RESTRICT c, int64_t c_stride, bool add) {
  const F f;
  FVec acc[R][V];
  {
    const float* from = c;
#pragma GCC unroll 6
    for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        acc[i][v] = add ? hn::LoadU(f, from + v * kLanes) : hn::Zero(f);
        if (!add) __builtin_prefetch(from + v * kLanes, 1, 3);  // the line is there when the sums are
      }
      from += c_stride;
    }
  }
  const auto step = [&](const float* ap, const float* bp) HWY_ATTR {
    FVec row[V];
    if (kTransA) __builtin_prefetch(ap + 16, 0, 3);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      row[v] = hn::LoadU(f, bp + v * kLanes);
      if (R < kTileRows && !kTransA) __builtin_prefetch(bp + v * kLanes + kAhead, 0, 3);
    }
#pragma GCC unroll 6
    for (int i = 0; i < R; ++i) {
      const FVec x = hn::Set(f, kTransA ? ap[i] : ap[i * a_stride]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) acc[i][v] = hn::MulAdd(x, row[v], acc[i][v]);
    }
  };
  const int64_t next = kTransA ? a_stride : 1;
  int64_t p = 0;
  for (; p + 4 <= k; p += 4) {
    step(a, b);
    step(a + next, b + b_stride);
    step(a + 2 * next, b + 2 * b_stride);
    step(a + 3 * next, b + 3 * b_stride);
    a += 4 * next;
    b += 4 * b_stride;
  }
  for (; p < k; ++p) {
    step(a, b);
    a += next;
    b += b_stride;
  }
#pragma GCC unroll 6
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) hn::StoreU(acc[i][v], f, c + v * kLanes);
    c += c_stride;
  }
}

/// A single row of A against kRowPanels whole panels that lie panel_stride apart: enough chains to hide the latency.
HWY_INLINE void row_tile(int64_t k, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, int64_t panel_stride,
                         float* HWY_RESTRICT c, bool add) {
  const F f;
  FVec acc[kRowPanels][kTileRegs];
#pragma GCC unroll 4
  for (int q = 0; q < kRowPanels; ++q)
#pragma GCC unroll 4
    for (int v = 0; v < kTileRegs; ++v) acc[q][v] = add ? hn::LoadU(f, c + q * kPanel + v * kLanes) : hn::Zero(f);
  for (int64_t p = 0; p < k; ++p) {
    const FVec x = hn::Set(f, a[p]);
#pragma GCC unroll 4
    for (int q = 0; q < kRowPanels; ++q)
#pragma GCC unroll 4
      for (int v = 0; v < kTileRegs; ++v) {
        const float* at = b + q * panel_stride + v * kLanes;
        acc[q][v] = hn::MulAdd(x, hn::LoadU(f, at), acc[q][v]);
        __builtin_prefetch(at + kAhead, 0, 3);
      }
    b += kPanel;
  }
#pragma GCC unroll 4
  for (int q = 0; q < kRowPanels; ++q)
#pragma GCC unroll 4
    for (int v = 0; v < kTileRegs; ++v) hn::StoreU(acc[q][v], f, c + q * kPanel + v * kLanes);
}

#endif

/// to[c, r] = from[r, c] for a rows x cols matrix. Rows of `to` are written up to the next multiple of kTileLanes; what
/// lies beyond `rows` there are copies of the last row.
HWY_INLINE void transpose(const float* HWY_RESTRICT from, int64_t from_stride, int64_t rows, int64_t cols,
                          float* HWY_RESTRICT to, int64_t to_stride) {
  for (int64_t r0 = 0; r0 < rows; r0 += kTileLanes) {
    const float* row[kTileLanes];
    for (int i = 0; i < kTileLanes; ++i) row[i] = from + std::min(r0 + i, rows - 1) * from_stride;
    int64_t c = 0;
#if HWY_TARGET != HWY_SCALAR
    // Four columns of kLanes rows: register i holds rows i, i + 4, i + 8 ...; a 4 x 4 transpose inside each 128-bit
    // block then brings the rows in order.
    const F f;
    const hn::RepartitionToWide<U> wide;
    for (; c + 4 <= cols; c += 4) {
      const FVec a = load_blocks(row, 0, c), b = load_blocks(row, 1, c);
      const FVec d = load_blocks(row, 2, c), e = load_blocks(row, 3, c);
      const auto ab0 = hn::BitCast(wide, hn::InterleaveLower(f, a, b)),
                 ab1 = hn::BitCast(wide, hn::InterleaveUpper(f, a, b));
      const auto de0 = hn::BitCast(wide, hn::InterleaveLower(f, d, e)),
                 de1 = hn::BitCast(wide, hn::InterleaveUpper(f, d, e));
      float* t = to + c * to_stride + r0;
      hn::StoreU(hn::BitCast(f, hn::InterleaveLower(wide, ab0, de0)), f, t);
      hn::StoreU(hn::BitCast(f, hn::InterleaveUpper(wide, ab0, de0)), f, t + to_stride);
      hn::StoreU(hn::BitCast(f, hn::InterleaveLower(wide, ab1, de1)), f, t + 2 * to_stride);
      hn::StoreU(hn::BitCast(f, hn::InterleaveUpper(wide, ab1, de1)), f, t + 3 * to_stride);
    }
#endif
    for (; c < cols; ++c)
      for (int i = 0; i < kTileLanes; ++i) to[c * to_stride + r0 + i] = row[i][c];
  }
}

using TileFn = void (*)(int64_t, const float*, int64_t, const float*, int64_t, float*, int64_t, bool);

template <bool kTransA>
HWY_INLINE TileFn tile_for(int rows, int regs) {
#define ATTUNE_TILE_ROW(R)                                                                                     \
  {                                                                                                            \
    tile<R, 1, kTransA>, tile<R, (kTileRegs > 1 ? 2 : 1), kTransA>, tile<R, (kTileRegs > 2 ? 3 : 1), kTransA>, \
        tile<R, (kTileRegs > 2 ? 4 : 1), kTransA>                                                              \
  }
  static constexpr TileFn table[kTileRows][4] = {ATTUNE_TILE_ROW(1), ATTUNE_TILE_ROW(2), ATTUNE_TILE_ROW(3),
                                                 ATTUNE_TILE_ROW(4), ATTUNE_TILE_ROW(5), ATTUNE_TILE_ROW(6)};
#undef ATTUNE_TILE_ROW
  return table[rows - 1][regs - 1];
}

/// A whole product of small matrices in cache, over tiles. B and C must be readable and writable up to the next
/// multiple of kTileLanes columns.
struct Block {
  int64_t m, n, k;
  const float* a;
  int64_t a_stride;
  const float* b;
  int64_t b_stride;
  float* c;
  int64_t c_stride;
};
template <bool kTransA>
HWY_INLINE void block_product(const Block& x, bool add) {
  for (int64_t j = 0; j < x.n; j += kPanel) {
    const int64_t left = x.n - j;
    const int regs = left >= kPanel ? kTileRegs : static_cast<int>((left + kTileLanes - 1) / kTileLanes);
    const TileFn whole = tile_for<kTransA>(kTileRows, regs);
    int64_t i = 0;
    for (; i + kTileRows <= x.m; i += kTileRows)
      whole(x.k, kTransA ? x.a + i : x.a + i * x.a_stride, x.a_stride, x.b + j, x.b_stride, x.c + i * x.c_stride + j,
            x.c_stride, add);
    if (i < x.m)
      tile_for<kTransA>(static_cast<int>(x.m - i), regs)(x.k, kTransA ? x.a + i : x.a + i * x.a_stride, x.a_stride,
                                                         x.b + j, x.b_stride, x.c + i * x.c_stride + j, x.c_stride,
                                                         add);
  }
}

KERNELS_END

#endif
