#include "kernels/matrix/int8.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/aligned.h"
#include "base/error.h"
#include "kernels/matrix/int8_tiles.h"

#define KERNELS_FILE "kernels/matrix/int8.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/matrix/epilogue.h"
#include "kernels/rows/activation_math.h"

#ifndef ATTUNE_INT8_ONCE
#define ATTUNE_INT8_ONCE
namespace attune::kernels {
namespace {

constexpr int64_t kInt8BlockRows = 480;    // rows of A that are cut to 8 bits at a time
constexpr int64_t kNearBytes = 1 << 18;    // of panels that rows pass over twice
constexpr float kRoundInt8 = 12582912.0f;  // 1.5 * 2^23: adding it rounds to the nearest integer, ties to even
constexpr int32_t kRoundInt8Bits = 0x4B400000;

int64_t round_up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

struct Pieces {
  int64_t from, to;
};

/// How one row of A was cut: x = (q - zero) * scale.
struct RowCut {
  float scale;
  int32_t zero;
};

/// Rows of A, cut to 8 bits. Memory of one thread, taken once and kept.
struct CutRows {
  Aligned<uint8_t> values;
  std::vector<RowCut> cuts;
  int64_t stride = 0;  // in bytes
  void make_room(int64_t rows, int64_t bytes) {
    stride = bytes;
    if (values.size() < rows * stride) values = Aligned<uint8_t>::unset(rows * stride);
    if (std::ssize(cuts) < rows) cuts.resize(static_cast<size_t>(rows));
  }
};
CutRows& cut_rows() {
  thread_local CutRows rows;
  return rows;
}

/// One call: what all parts of it share.
struct Int8Call {
  const Int8Gemm& g;
  const Int8Tiles& tiles;
  const CutRows& a;
  int64_t first = 0, rows = 0, depth = 0;  // rows of A at hand; k, padded
};

int32_t nearest(float x) { return std::bit_cast<int32_t>(x + kRoundInt8) - kRoundInt8Bits; }

}  // namespace
}  // namespace attune::kernels
#endif

KERNELS_BEGIN

using I = hn::RebindToSigned<F>;

// --- tiles where the CPU has no instruction for bytes ----------------------------------------------------------------

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Products of 16-bit numbers, added in pairs (pmaddwd): they can't overflow, unlike those of bytes (pmaddubsw).
inline constexpr int kPairRegs = HWY_TARGET == HWY_AVX3 ? 4 : 2;
inline constexpr int kPairPanel = kPairRegs * kLanes;

template <int R>
HWY_NOINLINE void pair_rows(int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  const I i32;
  const hn::Repartition<int16_t, I> i16;
  const hn::Rebind<int8_t, decltype(i16)> i8;
  hn::Vec<I> acc[R][kPairRegs], none = hn::Zero(i32);
#pragma GCC unroll 6
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < kPairRegs; ++v) acc[i][v] = hn::Zero(i32);
  for (int64_t p = 0; p < depth; p += 2, b += 2 * kPairPanel) {
    hn::Vec<decltype(i16)> w[kPairRegs];
#pragma GCC unroll 4
    for (int v = 0; v < kPairRegs; ++v) w[v] = hn::PromoteTo(i16, hn::LoadU(i8, b + 2 * v * kLanes));
#pragma GCC unroll 6
    for (int i = 0; i < R; ++i) {
      int32_t pair;
      std::memcpy(&pair, a + i * a_stride + 2 * p, 4);
      const auto x = hn::BitCast(i16, hn::Set(i32, pair));
#pragma GCC unroll 4
      for (int v = 0; v < kPairRegs; ++v) acc[i][v] = hn::ReorderWidenMulAccumulate(i32, x, w[v], acc[i][v], none);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < kPairRegs; ++v) hn::StoreU(acc[i][v], i32, sums + i * kPairPanel + v * kLanes);
}

void own_tile(int rows, int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  constexpr decltype(&pair_rows<1>) table[] = {pair_rows<1>, pair_rows<2>, pair_rows<3>,
                                               pair_rows<4>, pair_rows<5>, pair_rows<6>};
  table[rows - 1](depth, a, a_stride, b, sums);
}
inline constexpr Int8Tiles kOwnTiles{"pairs", kPairPanel, 2, 2, 6, own_tile};
#else
void own_tile(int rows, int64_t depth, const uint8_t* a, int64_t a_stride, const int8_t* b, int32_t* sums) {
  std::fill_n(sums, rows * 16, 0);
  for (int64_t p = 0; p < depth; p += 4, b += 64)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < 16; ++j)
        for (int q = 0; q < 4; ++q) sums[i * 16 + j] += int32_t{a[i * a_stride + p + q]} * b[4 * j + q];
}
inline constexpr Int8Tiles kOwnTiles{"plain", 16, 4, 1, 6, own_tile};
#endif

/// All that this instruction set has on this CPU, best first, then null.
const Int8Tiles* const* int8_tiles() {
#if HWY_TARGET == HWY_AVX3
  const Int8Tiles* const all[] = {int8_amx(), int8_vnni512(), &kOwnTiles};
#elif HWY_TARGET == HWY_AVX2
  const Int8Tiles* const all[] = {int8_vnni256(), &kOwnTiles};
#elif HWY_ARCH_ARM
  const Int8Tiles* const all[] = {int8_i8mm(), int8_dotprod(), &kOwnTiles};
#else
  const Int8Tiles* const all[] = {&kOwnTiles};
#endif
  static const Int8Tiles* there[4] = {};
  static const bool once = [&] {
    int n = 0;
    for (const Int8Tiles* t : all)
      if (t) there[n++] = t;
    return true;
  }();
  (void)once;
  return there;
}

// --- rows of A -------------------------------------------------------------------------------------------------------

/// The range of a row, zero in it, in 255 steps.
RowCut cut_of(const float* x, int64_t k) {
  auto low = zero<float>(), high = low, unfit = low;
  for_packs(k, [&](int64_t p, int64_t count) HWY_ATTR {
    const auto v = load_at(x + p, count);
    low = min(low, v);
    high = max(high, v);
    unfit = fma(v, zero<float>(), unfit);  // not-a-number stays, infinity becomes it
  });
  if (std::isnan(sum(unfit))) return {std::numeric_limits<float>::quiet_NaN(), 0};
  const float least = reduce(low, [](auto a, auto b) HWY_ATTR { return hn::Min(a, b); });
  const float scale = max_of(high) / 255.0f - least / 255.0f;  // apart: the difference may be infinite
  if (!(scale >= std::numeric_limits<float>::min())) return {0, 0};
  return {scale, std::clamp(nearest(-least * (1.0f / scale)), 0, 255)};
}

template <class T>
void cut_row(const float* x, int64_t k, int64_t depth, const RowCut& cut, T* to) {
  const F f;
  const I i32;
  const hn::Rebind<T, F> narrow;
  // a row without a scale is all zeros: nothing of it is read
  if (!(cut.scale > 0)) return void(std::memset(to, 0, static_cast<size_t>(depth) * sizeof(T)));
  const auto by = hn::Set(f, 1.0f / cut.scale), round = hn::Set(f, kRoundInt8);
  const auto shift = hn::Set(i32, cut.zero - kRoundInt8Bits);
  [[maybe_unused]] const auto most = hn::Set(i32, 255), none = hn::Zero(i32);
  for_packs(k, [&](int64_t p, int64_t count) HWY_ATTR {
    const auto v = load_at(x + p, count);
#pragma GCC unroll 4
    for (int i = 0; i < kRegs; ++i) {
      auto q = hn::Add(hn::BitCast(i32, hn::Add(hn::Mul(v.r[i], by), round)), shift);
      if constexpr (sizeof(T) > 1) q = hn::Min(hn::Max(q, none), most);  // bytes saturate by themselves
      hn::StoreU(hn::DemoteTo(narrow, q), narrow, to + p + i * kLanes);
    }
  });
  const int64_t written = (k + 15) / 16 * 16;
  if (written < depth) std::memset(to + written, 0, static_cast<size_t>(depth - written) * sizeof(T));
}

void cut_block(const Int8Gemm& g, int64_t first, int64_t depth, int64_t element, Pieces rows, CutRows& to) {
  for (int64_t r = rows.from; r < rows.to; ++r) {
    const float* x = g.a + (first + r) * g.a_stride;
    RowCut& cut = to.cuts[static_cast<size_t>(r)];
    cut = cut_of(x, g.packed->k);
    uint8_t* at = to.values.data() + r * to.stride;
    if (element == 1)
      cut_row(x, g.packed->k, depth, cut, at);
    else
      cut_row(x, g.packed->k, depth, cut, reinterpret_cast<int16_t*>(at));
  }
}

// --- the product -----------------------------------------------------------------------------------------------------

/// Sums of a tile to results. Without an epilogue nothing asks for one at every step.
template <bool kEpilogue>
HWY_INLINE void finish_tile(const Int8Call& c, int64_t row, int64_t rows, int64_t column, const int32_t* sums) {
  const Int8Gemm& g = c.g;
  const PackedInt8& b = *g.packed;
  const I i32;
  const int64_t cols = std::min<int64_t>(c.tiles.panel, b.n - column);
  for (int64_t i = 0; i < rows; ++i, sums += c.tiles.panel) {
    const RowCut& cut = c.a.cuts[static_cast<size_t>(row + i)];
    const int64_t r = c.first + row + i;
    const auto scale = splat(cut.scale);
    const auto zero_point = hn::Set(i32, cut.zero);
    for_packs(cols, [&](int64_t j, int64_t count) HWY_ATTR {
      // a last panel is there in whole, padded by pack_int8
      auto v = each([&](int q) HWY_ATTR {
        const auto own = hn::LoadU(i32, sums + j + q * kLanes);
        const auto shift = hn::Mul(zero_point, hn::LoadU(i32, b.sums + column + j + q * kLanes));
        return hn::ConvertTo(F(), hn::Sub(own, shift));
      });
      v = v * (scale * load(b.scales + column + j));
      if (kEpilogue) v = finished(g.epilogue, v, r, column + j, count);
      store_at(v, g.c + r * g.c_stride + column + j, count);
    });
  }
}

/// Tiles of r rows each, over all of these rows and panels.
template <bool kEpilogue>
void tiles_of(const Int8Call& c, Int8TileFn tile, int64_t r, Pieces rows, Pieces panels) {
  alignas(64) int32_t sums[kInt8MostRows * kInt8MostPanel];
  const int64_t panel_bytes = c.depth * c.tiles.panel;
  for (int64_t j = panels.from; j < panels.to; ++j)
    for (int64_t i = rows.from; i < rows.to; i += r) {
      const int64_t some = std::min(r, rows.to - i);
      tile(static_cast<int>(some), c.depth, c.a.values.data() + i * c.a.stride, c.a.stride,
           c.g.packed->data + j * panel_bytes, sums);
      finish_tile<kEpilogue>(c, i, some, j * c.tiles.panel, sums);
    }
}

/// Rows in tiles of `most`, then those that are left, over a few panels at a time: they stay near for the second.
template <bool kEpilogue>
void product(const Int8Call& c, Pieces rows, Pieces panels) {
  const Int8Tiles& t = c.tiles;
  const bool tall = t.tall && rows.to - rows.from >= t.tall_rows;
  const Int8TileFn tile = tall ? t.tall : t.tile;
  const int64_t most = tall ? kInt8MostRows : t.rows, count = rows.to - rows.from;
  // Tiles of nearly one size keep a machine without tall ones busier than a last one of one or two rows would.
  const int64_t each = tall ? most : (count + (count + most - 1) / most - 1) / ((count + most - 1) / most);
  const int64_t whole = rows.from + (tall ? count / most * most : count);
  const int64_t near = std::max<int64_t>(1, kNearBytes / (c.depth * t.panel));
  for (int64_t j = panels.from; j < panels.to; j += near) {
    const Pieces some{j, std::min(panels.to, j + near)};
    if (tall && whole > rows.from) t.begin(static_cast<int>(most));
    tiles_of<kEpilogue>(c, tile, each, {rows.from, whole}, some);
    if (whole == rows.to) continue;
    t.begin(static_cast<int>(rows.to - whole));
    tiles_of<kEpilogue>(c, tile, most, {whole, rows.to}, some);
  }
  if (tall) t.end();
}

void gemm_int8(const Int8Gemm& g, const Int8Tiles& tiles, ThreadPool* pool) {
  const PackedInt8& b = *g.packed;
  const int64_t depth = round_up(b.k, kInt8Depth), panels = round_up(b.n, tiles.panel) / tiles.panel;
  const double work = 2.0 * static_cast<double>(std::min(g.m, kInt8BlockRows)) * static_cast<double>(b.n * b.k);
  if (work < 4e6) pool = nullptr;
  CutRows& a = cut_rows();
  a.make_room(std::min(g.m, kInt8BlockRows), depth * tiles.element);
  for (int64_t first = 0; first < g.m; first += kInt8BlockRows) {
    const int64_t rows = std::min(kInt8BlockRows, g.m - first);
    constexpr int64_t at_once = 32;
    parallel_for(pool, round_up(rows, at_once) / at_once, [&](int64_t block, int) {
      cut_block(g, first, depth, tiles.element, {block * at_once, std::min(rows, (block + 1) * at_once)}, a);
    });
    const Int8Call call{g, tiles, a, first, rows, depth};
    // Cuts never change results: about four pieces a worker, whole panels where there are enough.
    const int64_t want = pool ? 4 * workers_of(pool) : 1, col_pieces = std::min(panels, want);
    const int64_t row_pieces = std::min<int64_t>(round_up(rows, 48) / 48, (want + col_pieces - 1) / col_pieces);
    const int64_t cols_each = (panels + col_pieces - 1) / col_pieces;
    const int64_t rows_each = round_up((rows + row_pieces - 1) / row_pieces, 48);
    const int64_t nc = (panels + cols_each - 1) / cols_each, nr = (rows + rows_each - 1) / rows_each;
    parallel_for(pool, nc * nr, [&](int64_t block, int) {
      const int64_t r = block / nc * rows_each, p = block % nc * cols_each;
      const Pieces own_rows{r, std::min(rows, r + rows_each)}, own_panels{p, std::min(panels, p + cols_each)};
      g.epilogue.any() ? product<true>(call, own_rows, own_panels) : product<false>(call, own_rows, own_panels);
    });
  }
}

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

KERNEL_EXPORT(int8_tiles);
KERNEL_EXPORT(gemm_int8);

namespace {
std::string g_forced;

const Int8Tiles& tiles_in_use() {
  const Int8Tiles* const* all = HWY_DYNAMIC_DISPATCH(int8_tiles)();
  for (; !g_forced.empty() && *all && g_forced != (*all)->name; ++all) {}
  check(*all != nullptr, "int8", "no kernel '{}' on this CPU with this instruction set", g_forced);
  return **all;
}
}  // namespace

std::vector<std::string> available_int8_kernels() {
  std::vector<std::string> names;
  for (const Int8Tiles* const* t = HWY_DYNAMIC_DISPATCH(int8_tiles)(); *t; ++t) names.emplace_back((*t)->name);
  return names;
}
void force_int8_kernel(const std::string& name) { g_forced = name; }
std::string chosen_int8_kernel() { return tiles_in_use().name; }

void quantize_weights(const float* w, int64_t rows, int64_t cols, int8_t* values, float* scales) {
  for (int64_t j = 0; j < rows; ++j) {
    const float* row = w + j * cols;
    float largest = 0;
    for (int64_t p = 0; p < cols; ++p) {
      check(std::isfinite(row[p]), "int8", "weight ({}, {}) is {}", j, p, row[p]);
      largest = std::max(largest, std::abs(row[p]));
    }
    const float scale = largest / 127.0f;
    const bool none = !(scale >= std::numeric_limits<float>::min());
    scales[j] = none ? 0 : scale;
    for (int64_t p = 0; p < cols; ++p)
      values[j * cols + p] = static_cast<int8_t>(none ? 0 : std::clamp(nearest(row[p] / scale), -127, 127));
  }
}

int64_t packed_int8_bytes(int64_t k, int64_t n) {
  return round_up(n, tiles_in_use().panel) * (round_up(k, kInt8Depth) + 8);
}

namespace {
/// A row of W to its column of a panel, `group` numbers at a time.
template <int kGroup>
void spread(const int8_t* row, int64_t cols, int64_t panel, int8_t* to) {
  int64_t p = 0;
  for (; p + kGroup <= cols; p += kGroup) std::memcpy(to + p * panel, row + p, kGroup);
  if (p < cols) std::memcpy(to + p * panel, row + p, static_cast<size_t>(cols - p));
}
}  // namespace

PackedInt8 pack_int8(const Int8Rows& w, int8_t* to, ThreadPool* pool) {
  const Int8Tiles& t = tiles_in_use();
  check(w.cols > 0 && w.cols <= kInt8Longest, "int8", "rows of {} elements, at most {} are possible", w.cols,
        kInt8Longest);
  const int64_t depth = round_up(w.cols, kInt8Depth), panel = t.panel, group = t.group;
  const int64_t padded = round_up(w.rows, panel);
  auto* scales = reinterpret_cast<float*>(to + padded * depth);
  auto* sums = reinterpret_cast<int32_t*>(scales + padded);
  parallel_for(pool, padded / panel, [&](int64_t block, int) {
    int8_t* out = to + block * panel * depth;
    std::memset(out, 0, static_cast<size_t>(panel * depth));
    for (int64_t j = block * panel; j < (block + 1) * panel; ++j) {
      scales[j] = 0;
      sums[j] = 0;
      if (j >= w.rows) continue;
      const int8_t* row = w.values + j * w.cols;
      group == 4 ? spread<4>(row, w.cols, panel, out + j % panel * 4)
                 : spread<2>(row, w.cols, panel, out + j % panel * 2);
      int32_t sum = 0;
      for (int64_t p = 0; p < w.cols; ++p) sum += row[p];
      sums[j] = sum;
      scales[j] = w.scales[j];
    }
  });
  return {to, scales, sums, w.cols, w.rows, t.panel, t.group};
}

void gemm_int8(const Int8Gemm& g, ThreadPool* pool) {
  if (g.m <= 0 || g.packed->n <= 0) return;
  const Int8Tiles& t = tiles_in_use();
  check(g.packed->panel == t.panel && g.packed->group == t.group, "int8", "a matrix packed for another kernel");
  KERNEL_CALL(gemm_int8)(g, t, pool);
}

}  // namespace attune::kernels
#endif
