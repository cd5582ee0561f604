#include "kernels/matrix/gemm.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>

#include "base/error.h"

#define KERNELS_FILE "kernels/matrix/gemm.cc"
#include "kernels/simd.h"  // first: what follows is compiled once per instruction set

#include "kernels/matrix/epilogue.h"
#include "kernels/rows/activation_math.h"
#include "kernels/tile.h"

#ifndef ATTUNE_GEMM_ONCE
#define ATTUNE_GEMM_ONCE
namespace attune::kernels {
namespace {
// Blocks that keep a panel of B near and a block of A in L2. They do not change results, only speed.
constexpr int64_t kBlockRows = 300;   // rows of A at a time, at most
constexpr int64_t kBlockDepth = 512;  // k at a time
constexpr int64_t kBlockCols = 512;   // columns of B packed at a time
constexpr int64_t kNarrow = 1024;     // rows of a transposed A up to which it is read in place
constexpr int64_t kFetch = 1024;      // floats of the next panel fetched with each tile, at most
constexpr int64_t kPackRows = 16;     // rows read at a time while packing

/// Packing space of one thread, taken once and kept.
struct PackSpace {
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  static float* make(int64_t n) {
    return static_cast<float*>(::operator new[](static_cast<size_t>(n) * 4, std::align_val_t(64)));
  }
  std::unique_ptr<float[], Free> a{make((kBlockRows + 8) * kBlockDepth)};
  std::unique_ptr<float[], Free> b{make((kBlockCols + 64) * kBlockDepth)};
};
PackSpace& pack_space() {
  thread_local PackSpace space;
  return space;
}
int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
}  // namespace
}  // namespace attune::kernels
#endif

KERNELS_BEGIN

int panel_width() { return kPanel; }

/// Rows [0, depth) of columns [0, cols) of B as panels, the last one padded. Panels lie `panel_stride`
/// apart.
void pack_panels(const Gemm& g, const float* b, int64_t depth, int64_t cols, float* to, int64_t panel_stride) {
  if (g.b_transposed) {
    for (int64_t j = 0; j < cols; j += kPanel, to += panel_stride)
      transpose(b + j * g.b_stride, g.b_stride, std::min<int64_t>(kPanel, cols - j), depth, to, kPanel);
    return;
  }
  // A few rows at a time over all panels: B is read along its rows.
  for (int64_t p0 = 0; p0 < depth; p0 += kPackRows)
    for (int64_t j = 0; j < cols; j += kPanel) {
      float* t = to + j / kPanel * panel_stride + p0 * kPanel;
      for (int64_t p = p0; p < std::min(depth, p0 + kPackRows); ++p, t += kPanel) {
        const float* s = b + p * g.b_stride + j;
        if (cols - j >= kPanel)
          for (int64_t q = 0; q < kPanel; q += 16) store(load(s + q), t + q);
        else
          for (int64_t q = 0; q < kPanel; q += 16)
            store(load_n(s + q, std::clamp<int64_t>(cols - j - q, 0, 16)), t + q);
      }
    }
}

/// The columns of a transposed A in groups of six: [group][p][6], again a few rows of its memory at a time.
void pack_rows(const float* a, int64_t stride, int64_t depth, int64_t rows, float* to) {
  const int64_t whole = rows / kTileRows * kTileRows;
  for (int64_t p0 = 0; p0 < depth; p0 += kPackRows) {
    const int64_t pend = std::min(depth, p0 + kPackRows);
    for (int64_t i = 0; i < whole; i += kTileRows) {
      float* t = to + i * depth + p0 * kTileRows;
      for (int64_t p = p0; p < pend; ++p, t += kTileRows) std::memcpy(t, a + p * stride + i, kTileRows * sizeof(float));
    }
    for (int64_t p = p0; p < pend; ++p)
      for (int64_t i = whole; i < rows; ++i) to[whole * depth + p * kTileRows + i - whole] = a[p * stride + i];
  }
}

void finish(const Epilogue& e, float* c, int64_t c_stride, int64_t i0, int64_t rows, int64_t j0, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i) {
    float* out = c + i * c_stride;
    for_packs(cols, [&](int64_t j, int64_t count) HWY_ATTR {
      const auto v = finished(e, load_at(out + j, count), i0 + i, j0 + j, count);
      store_at(v, out + j, count);
    });
  }
}

struct Range {
  int64_t from, to;
};

/// How the kernel reads A: element (i, p) at data[i * stride + p], or transposed data[p * stride + i]. A packed one is
/// transposed in groups of six rows, [group][p][6].
struct LeftSide {
  const float* data;
  int64_t stride;
  bool transposed, packed;
  const float* row(int64_t i, int64_t depth) const { return data + i * (packed ? depth : transposed ? 1 : stride); }
};

/// How many rows the next tile takes: six, but a last one or two alone would not keep the machine busy.
HWY_INLINE int tile_rows(int64_t left, bool packed) {
  if (packed || left <= kTileRows || left > kTileRows + 3) return static_cast<int>(std::min<int64_t>(kTileRows, left));
  return static_cast<int>((left + 1) / 2);
}

/// A panel of B, and what to fetch from memory meanwhile.
struct Panel {
  const float* data;
  int64_t depth, column, cols;
  bool add, last;     // go on with the sums in C; they are complete after this
  const float* next;  // the panel that comes after, or none
};

/// rows x one panel.
void panel_product(const Gemm& g, const LeftSide& a, Range rows, const Panel& b) {
  const int regs = static_cast<int>(ceil_div(b.cols, kTileLanes));
  const bool whole = b.cols % kTileLanes == 0;
  const auto tile_of = [&](int r) { return a.transposed ? tile_for<true>(r, regs) : tile_for<false>(r, regs); };
  const TileFn full = tile_of(kTileRows);
  float edge[kTileRows * kPanel];
  // A slice of the next panel moves towards L2 with every tile: equal ones, for more at once would be waited for.
  const int64_t tiles = ceil_div(rows.to - rows.from, kTileRows), whole_panel = b.next ? b.depth * kPanel : 0;
  const int64_t slice = std::min(kFetch, ceil_div(whole_panel, 16 * tiles) * 16);
  int64_t fetched = 0;
  for (int64_t i = rows.from, r = 0; i < rows.to; i += r) {
    r = tile_rows(rows.to - i, a.packed);
    const TileFn tile = r == kTileRows ? full : tile_of(static_cast<int>(r));
    const float* ai = a.row(i - rows.from, b.depth);
    float* c = g.c + i * g.c_stride + b.column;
    for (const int64_t end = std::min(fetched + slice, whole_panel); fetched < end; fetched += 16)
      __builtin_prefetch(b.next + fetched, 0, 2);
    if (whole) {
      tile(b.depth, ai, a.stride, b.data, kPanel, c, g.c_stride, b.add);
    } else {  // the last columns: through a buffer, so that nothing beyond C is touched
      const size_t bytes = static_cast<size_t>(b.cols) * sizeof(float);
      for (int q = 0; q < r && b.add; ++q) std::memcpy(edge + q * kPanel, c + q * g.c_stride, bytes);
      tile(b.depth, ai, a.stride, b.data, kPanel, edge, kPanel, b.add);
      for (int q = 0; q < r; ++q) std::memcpy(c + q * g.c_stride, edge + q * kPanel, bytes);
    }
    if (b.last && g.epilogue.any()) finish(g.epilogue, c, g.c_stride, i, r, b.column, b.cols);
  }
}

/// The part of C given by two ranges; cols.from is a multiple of the panel width.
void product(const Gemm& g, Range rows, Range cols) {
  PackSpace& space = pack_space();
  const bool one_row = rows.to - rows.from == 1 && g.packed && !g.a_transposed;
  // A transposed A is packed where it is read often, once for each panel, or where its columns would fill whole pages.
  // Wide panels read it seldom: a narrow A is near enough as it is, and a narrow B meets it too few times.
  const bool pack_a = g.a_transposed && (kPanel < 64 || (g.a_stride > kNarrow && cols.to - cols.from > 128));
  // Blocks of one size: a small last one would read all of B for a few rows.
  const int64_t count = rows.to - rows.from, blocks = std::max<int64_t>(1, ceil_div(count, kBlockRows));
  const int64_t block_rows = std::max<int64_t>(kTileRows, ceil_div(ceil_div(count, blocks), kTileRows) * kTileRows);
  const int64_t block_cols = !g.packed ? kBlockCols : g.k <= kBlockDepth ? cols.to - cols.from : 2 * kBlockCols;
  for (int64_t jc = cols.from; jc < cols.to; jc += block_cols) {
    const int64_t jend = std::min(cols.to, jc + block_cols);
    for (int64_t p = 0; p == 0 || p < g.k; p += kBlockDepth) {
      const int64_t depth = std::min(kBlockDepth, g.k - p);
      const bool add = g.add || p > 0, last = p + kBlockDepth >= g.k;
      if (!g.packed)
        pack_panels(g, g.b_transposed ? g.b + jc * g.b_stride + p : g.b + p * g.b_stride + jc, depth, jend - jc,
                    space.b.get(), depth * kPanel);
      const auto panel_at = [&](int64_t j) {
        return g.packed ? g.packed->data + j * g.k + p * kPanel : space.b.get() + (j - jc) * depth;
      };
      for (int64_t i = rows.from; i < rows.to; i += block_rows) {
        const Range block{i, std::min(rows.to, i + block_rows)};
        LeftSide a{g.a + i * g.a_stride + p, g.a_stride, false, false};
        if (g.a_transposed) a = {g.a + p * g.a_stride + i, g.a_stride, true, false};
        if (pack_a) {
          pack_rows(a.data, g.a_stride, depth, block.to - block.from, space.a.get());
          a = {space.a.get(), kTileRows, true, true};
        }
        int64_t j = jc;
        if (one_row)
          for (; j + kRowPanels * kPanel <= jend; j += kRowPanels * kPanel) {
            float* c = g.c + i * g.c_stride + j;
            row_tile(depth, a.data, panel_at(j), g.k * kPanel, c, add);
            if (last && g.epilogue.any()) finish(g.epilogue, c, g.c_stride, i, 1, j, kRowPanels * kPanel);
          }
        for (; j < jend; j += kPanel) {
          const float* next = g.packed && j + kPanel < jend ? panel_at(j + kPanel) : nullptr;
          panel_product(g, a, block, {panel_at(j), depth, j, std::min<int64_t>(kPanel, jend - j), add, last, next});
        }
      }
    }
  }
}

/// Cuts C for the pool: by columns where there are enough, else by rows too. Cuts never change results.
void gemm(const Gemm& g, ThreadPool* pool) {
  const int workers = workers_of(pool);
  const double work = 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  if (workers == 1 || work < 2e6) return product(g, {0, g.m}, {0, g.n});
  const int64_t panels = ceil_div(g.n, kPanel);
  // About four pieces a worker even out a busy core. Tall products are cut by rows, wide ones by columns: the longer
  // side of a piece is what is read once. Where a side is packed on the way, cuts across it pack it again: those are
  // few.
  const int64_t want = 4 * workers, most_rows = ceil_div(g.m, 8 * kTileRows);
  int64_t row_pieces, col_pieces;
  if (g.a_transposed) {
    col_pieces = std::min<int64_t>(want, std::max<int64_t>(1, g.n / kBlockCols));
    row_pieces = std::min(most_rows, ceil_div(2 * workers, col_pieces));
  } else if (g.packed && g.m >= g.n) {
    row_pieces = std::min(most_rows, want);
    col_pieces = std::min(panels, ceil_div(want, row_pieces));
  } else {
    col_pieces = std::min(panels, want);
    row_pieces = std::min(most_rows, ceil_div(g.packed ? want : workers, col_pieces));
  }
  const int64_t cols_each = ceil_div(panels, col_pieces) * kPanel;
  const int64_t rows_each = ceil_div(ceil_div(g.m, row_pieces), kTileRows) * kTileRows;
  const int64_t nc = ceil_div(g.n, cols_each), nr = ceil_div(g.m, rows_each);
  parallel_for(pool, nc * nr, [&](int64_t block, int) {
    const int64_t r = block / nc * rows_each, c = block % nc * cols_each;
    product(g, {r, std::min(g.m, r + rows_each)}, {c, std::min(g.n, c + cols_each)});
  });
}

void pack(const Gemm& g, float* to, ThreadPool* pool) {
  constexpr int64_t at_once = 8 * kPanel;
  parallel_for(pool, ceil_div(g.n, at_once), [&](int64_t block, int) {
    const int64_t j = block * at_once;
    pack_panels(g, g.b_transposed ? g.b + j * g.b_stride : g.b + j, g.k, std::min(at_once, g.n - j), to + j * g.k,
                g.k * kPanel);
  });
}

/// `rounds` x 24 independent chains of fused multiply-adds; returns a number so that nothing is optimised away.
float fma_loop(int64_t rounds) {
  constexpr int kChains = kLanes == 16 ? 24 : 12;
  const F f;
  FVec acc[kChains];
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) acc[i] = hn::Set(f, static_cast<float>(i));
  const FVec x = hn::Set(f, 0.999999f), y = hn::Set(f, 1e-3f);
  for (int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 24
    for (int i = 0; i < kChains; ++i) acc[i] = hn::MulAdd(acc[i], x, y);
  for (int i = 1; i < kChains; ++i) acc[0] = hn::Add(acc[0], acc[i]);
  return hn::GetLane(acc[0]);
}
int64_t fma_loop_flops() { return int64_t{2} * (kLanes == 16 ? 24 : 12) * kLanes; }

KERNELS_END

#if KERNELS_ONCE
namespace attune::kernels {

HWY_EXPORT(panel_width);
HWY_EXPORT(gemm);
HWY_EXPORT(pack);
HWY_EXPORT(fma_loop);
HWY_EXPORT(fma_loop_flops);

int64_t packed_floats(int64_t k, int64_t n) {
  const int64_t w = HWY_DYNAMIC_DISPATCH(panel_width)();
  return ceil_div(n, w) * w * k;
}

PackedMatrix pack(const float* b, int64_t b_stride, bool b_transposed, int64_t k, int64_t n, float* to,
                  ThreadPool* pool) {
  Gemm g;
  g.n = n;
  g.k = k;
  g.b = b;
  g.b_stride = b_stride;
  g.b_transposed = b_transposed;
  KERNEL_CALL(pack)(g, to, pool);
  return {to, k, n, HWY_DYNAMIC_DISPATCH(panel_width)()};
}

void gemm(const Gemm& g, ThreadPool* pool) {
  if (g.m <= 0 || g.n <= 0) return;
  if (g.packed) {
    check(g.packed->k == g.k && g.packed->n == g.n, "gemm", "a packed [{}, {}] matrix where [{}, {}] is wanted",
          g.packed->k, g.packed->n, g.k, g.n);
    check(g.packed->panel == HWY_DYNAMIC_DISPATCH(panel_width)(), "gemm",
          "a matrix packed for another instruction set");
  }
  KERNEL_CALL(gemm)(g, pool);
}

double measure_peak_gflops(double seconds) {
  using Clock = std::chrono::steady_clock;
  volatile float sink = 0;
  double best = 0;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    constexpr int64_t rounds = 20000;
    const auto start = Clock::now();
    sink = sink + HWY_DYNAMIC_DISPATCH(fma_loop)(rounds);
    const double s = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(rounds * HWY_DYNAMIC_DISPATCH(fma_loop_flops)()) / s * 1e-9);
  } while (Clock::now() < end);
  return best;
}

}  // namespace attune::kernels
#endif
