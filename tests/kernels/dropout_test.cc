// The dropout mask: the vector form against base/random.h, and the statistics of a cheap mixer.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"

#define KERNELS_FILE "kernels/dropout_test.cc"
#include "kernels/simd.h"
// after simd.h, once per instruction set
#include "kernels/dropout.h"

KERNELS_BEGIN

/// The mask of one row by the three forms there are, ones for kept elements (times the scale for two of them).
void mask_row(const Dropout& d, int64_t row, int64_t n, float* applied, float* swept, float* masked) {
  const DropoutRow drop(d, row);
  DropoutSweep sweep(d, row);
  const auto one = splat(1.0f);
  for_packs(n, [&](int64_t j, int64_t count) HWY_ATTR {
    store_at(drop.apply(one, j), applied + j, count);
    store_at(sweep.apply(one, j), swept + j, count);
    store_at(drop.mask(one, j), masked + j, count);
  });
}

KERNELS_END

#if KERNELS_ONCE
namespace attune {
namespace kernels {
namespace {
KERNEL_EXPORT(mask_row);
void mask_row(const Dropout& d, int64_t row, int64_t n, float* applied, float* swept, float* masked) {
  KERNEL_CALL(mask_row)(d, row, n, applied, swept, masked);
}
}  // namespace
}  // namespace kernels

namespace {

TEST(DropoutMask, VectorFormIsTheScalarOne) {
  constexpr int64_t n = 1003;
  std::vector<float> applied(n), swept(n), masked(n);
  for (const std::string& isa : available_isas()) {
    force_isa(isa);
    for (float rate : {0.0f, 1e-5f, 0.1f, 0.5f, 0.999f})
      for (int64_t row : {int64_t{0}, int64_t{1}, int64_t{123456}}) {
        const Dropout d{rate, 0x1234567890abcdefull, 17};
        kernels::mask_row(d, row, n, applied.data(), swept.data(), masked.data());
        for (int64_t j = 0; j < n; ++j) {
          const size_t i = static_cast<size_t>(j);
          const bool drop = dropped(d, row, static_cast<uint32_t>(j));
          ASSERT_EQ(masked[i], drop ? 0.0f : 1.0f) << isa << " rate " << rate << " column " << j;
          ASSERT_EQ(applied[i], drop ? 0.0f : dropout_scale(rate));
          ASSERT_EQ(swept[i], applied[i]);
        }
      }
  }
  force_isa("auto");
}

TEST(DropoutMask, RowsAreKeyedByTheirPlaceInTheBatch) {
  const Dropout whole{0.3f, 5, 0}, shard{0.3f, 5, 40};
  for (uint32_t j = 0; j < 200; ++j) EXPECT_EQ(dropped(whole, 43, j), dropped(shard, 3, j));
}

// Each statistic below is a sum of independent +-1 over n cells if the mask is random; its standard deviation is
// 1 / sqrt(n), and five of them bound all of the several hundred that are looked at.
constexpr int kRows = 512, kCols = 512;
constexpr double kBound = 5.0 / 512;

using MaskAt = std::function<bool(int row, int column)>;
double correlation(const MaskAt& a, const MaskAt& b) {
  int64_t s = 0;
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kCols; ++c) s += a(r, c) == b(r, c) ? 1 : -1;
  return static_cast<double>(s) / (kRows * kCols);
}
std::vector<bool> fill(const Dropout& d) {
  std::vector<bool> m;
  for (int r = 0; r < 2 * kRows; ++r)
    for (int c = 0; c < 2 * kCols; ++c) m.push_back(dropped(d, r, static_cast<uint32_t>(c)));
  return m;
}
MaskAt shifted(const std::vector<bool>& m, int rows, int cols) {
  return [&m, rows, cols](int r, int c) { return m[static_cast<size_t>((r + rows) * 2 * kCols + c + cols)]; };
}

TEST(DropoutMask, DropsTheShareItShould) {
  for (float rate : {0.01f, 0.1f, 0.3f, 0.5f, 0.9f}) {
    const double p = dropout_threshold(rate) / 65536.0;
    EXPECT_NEAR(p, rate, 1e-5);
    for (uint64_t key : {0ull, 1ull, 0xffffffffffffffffull}) {
      const std::vector<bool> m = fill({rate, key, 0});
      double all = 0;
      std::vector<double> by_row(2 * kRows), by_column(2 * kCols);
      for (size_t i = 0; i < m.size(); ++i) {
        all += m[i];
        by_row[i / (2 * kCols)] += m[i];
        by_column[i % (2 * kCols)] += m[i];
      }
      const double sigma = std::sqrt(p * (1 - p));
      EXPECT_NEAR(all / static_cast<double>(m.size()), p, 5 * sigma / std::sqrt(m.size()));
      double row_spread = 0, column_spread = 0;  // the mean square of a normalised count: 1 when random
      for (double n : by_row) row_spread += std::pow((n - p * 1024) / (sigma * 32), 2) / 1024;
      for (double n : by_column) column_spread += std::pow((n - p * 1024) / (sigma * 32), 2) / 1024;
      EXPECT_NEAR(row_spread, 1, 5 * std::sqrt(2.0 / 1024)) << rate << " " << key;
      EXPECT_NEAR(column_spread, 1, 5 * std::sqrt(2.0 / 1024)) << rate << " " << key;
    }
  }
}

TEST(DropoutMask, NeighboursAreIndependent) {
  const std::vector<bool> m = fill({0.5f, 42, 0});
  const MaskAt base = shifted(m, 0, 0);
  for (int rows : {0, 1, 2, 3, 16, 64, 256})
    for (int cols : {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 128, 256, 511}) {
      if (rows == 0 && cols == 0) continue;
      EXPECT_LT(std::abs(correlation(base, shifted(m, rows, cols))), kBound) << rows << " " << cols;
    }
}

TEST(DropoutMask, KeysAreIndependent) {
  const std::vector<bool> m = fill({0.5f, 42, 0});
  for (uint64_t key : std::vector<uint64_t>{43, 42 + (1ull << 32), 42 ^ (1ull << 63), 0, mix(42)}) {
    const std::vector<bool> other = fill({0.5f, key, 0});
    EXPECT_LT(std::abs(correlation(shifted(m, 0, 0), shifted(other, 0, 0))), kBound) << key;
    EXPECT_LT(std::abs(correlation(shifted(m, 1, 0), shifted(other, 0, 0))), kBound) << key;
    EXPECT_LT(std::abs(correlation(shifted(m, 0, 0), shifted(other, 1, 0))), kBound) << key;
  }
}

/// Three cells whose parity would betray a linear mixer.
TEST(DropoutMask, NoParityAmongThreeOrFour) {
  const std::vector<bool> m = fill({0.5f, 7, 0});
  const MaskAt a = shifted(m, 0, 0), b = shifted(m, 0, 1), c = shifted(m, 1, 0), d = shifted(m, 1, 1),
               e = shifted(m, 0, 16);
  EXPECT_LT(std::abs(correlation(a, [&](int r, int j) { return b(r, j) != c(r, j); })), kBound);
  EXPECT_LT(std::abs(correlation(a, [&](int r, int j) { return b(r, j) != e(r, j); })), kBound);
  EXPECT_LT(std::abs(correlation([&](int r, int j) { return a(r, j) != d(r, j); },
                                 [&](int r, int j) { return b(r, j) != c(r, j); })),
            kBound);
}

}  // namespace
}  // namespace attune
#endif
