#include "kernels/matrix/int8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/aligned.h"
#include "base/random.h"
#include "checks.h"

namespace attune {
namespace {

using kernels::Int8Gemm;

/// f() on every kernel of every instruction set.
template <class F>
void on_every_kernel(F f) {
  for (const auto& isa : available_isas()) {
    const IsaScope scope(isa);
    for (const auto& kernel : kernels::available_int8_kernels()) {
      SCOPED_TRACE(isa + " " + kernel);
      kernels::force_int8_kernel(kernel);
      f();
      kernels::force_int8_kernel("");
    }
  }
}

/// A product with its operands.
struct Int8Product {
  int64_t m, n, k;
  std::vector<float> a, w, scales;
  std::vector<int8_t> values;

  Int8Product(int64_t m_, int64_t n_, int64_t k_, uint64_t seed) : m(m_), n(n_), k(k_) {
    Random random(seed);
    for (int64_t i = 0; i < m * k; ++i) a.push_back(static_cast<float>(random.normal()));
    for (int64_t i = 0; i < n * k; ++i) w.push_back(static_cast<float>(random.normal()));
    quantize();
  }
  void quantize() {
    scales.resize(static_cast<size_t>(n));
    values.resize(w.size());
    kernels::quantize_weights(w.data(), n, k, values.data(), scales.data());
  }
  std::vector<float> run(ThreadPool* pool = nullptr, const kernels::Epilogue& e = {}, int64_t room = 0) const {
    return run_rows(0, m, pool, e, room);
  }
  std::vector<float> run_rows(int64_t from, int64_t rows, ThreadPool* pool = nullptr, const kernels::Epilogue& e = {},
                              int64_t room = 0) const {
    Aligned<int8_t> panels(kernels::packed_int8_bytes(k, n));
    const PackedInt8 packed = kernels::pack_int8({values.data(), scales.data(), n, k}, panels.data(), pool);
    std::vector<float> c(static_cast<size_t>(rows * (n + room)), 77.0f);
    Int8Gemm g{.m = rows, .a = a.data() + from * k, .a_stride = k, .packed = &packed, .c = c.data()};
    g.c_stride = n + room;
    g.epilogue = e;
    kernels::gemm_int8(g, pool);
    return c;
  }
  /// The same by plain loops, sums in 64 bits.
  std::vector<float> expected() const {
    std::vector<float> c;
    for (int64_t i = 0; i < m; ++i) {
      const float* x = a.data() + i * k;
      float low = 0, high = 0;
      for (int64_t p = 0; p < k; ++p) low = std::min(low, x[p]), high = std::max(high, x[p]);
      const float scale = high / 255.0f - low / 255.0f, by = scale > 0 ? 1.0f / scale : 0.0f;
      const auto zero = static_cast<int64_t>(std::nearbyint(-low * by));
      for (int64_t j = 0; j < n; ++j) {
        int64_t sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          const auto q = std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(x[p] * by)) + zero, 0, 255);
          sum += (q - zero) * values[static_cast<size_t>(j * k + p)];
        }
        c.push_back(static_cast<float>(sum) * (scale * scales[static_cast<size_t>(j)]));
      }
    }
    return c;
  }
};

TEST(Int8, EqualsPlainLoopsOnEveryKernel) {
  std::vector<Int8Product> products;
  Random random(3);
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                                   {2, 15, 3},
                                                                   {3, 16, 63},
                                                                   {4, 17, 64},
                                                                   {5, 64, 65},
                                                                   {6, 65, 130},
                                                                   {7, 130, 200},
                                                                   {16, 33, 128},
                                                                   {17, 70, 31},
                                                                   {33, 128, 96},
                                                                   {40, 10, 512},
                                                                   {500, 20, 40},
                                                                   {1, 300, 257}})
    products.emplace_back(m, n, k, random.below(1000));
  for (const Int8Product& p : products) {
    const auto expected = p.expected();
    on_every_kernel([&] { EXPECT_TRUE(same_bits(p.run(), expected)) << p.m << ' ' << p.n << ' ' << p.k; });
  }
}

TEST(Int8, SumsDoNotSaturate) {
  // By pmaddubsw's 16-bit sums this would come out at half.
  Int8Product p(3, 20, 128, 1);
  std::fill(p.a.begin(), p.a.end(), 1.0f);
  std::fill(p.w.begin(), p.w.end(), 1.0f);
  for (size_t i = 0; i < p.w.size() / 2; ++i) p.w[i] = -1.0f;
  p.quantize();
  const auto expected = p.expected();
  EXPECT_NEAR(expected.back(), 128, 1e-4);
  EXPECT_NEAR(expected.front(), -128, 1e-4);
  on_every_kernel([&] { EXPECT_TRUE(same_bits(p.run(), expected)); });
}

TEST(Int8, TheLongestSumsFit) {
  Int8Product p(2, 2, kernels::kInt8Longest, 2);
  std::fill(p.a.begin(), p.a.end(), 1.0f);
  std::fill(p.w.begin(), p.w.end(), -1.0f);
  p.quantize();
  const auto expected = p.expected();
  EXPECT_NEAR(expected[0], -65536, 0.1);
  on_every_kernel([&] { EXPECT_TRUE(same_bits(p.run(), expected)); });
  const std::vector<int8_t> row(static_cast<size_t>(kernels::kInt8Longest + 1));
  const float scale = 1;
  EXPECT_NE(error_of([&] { kernels::pack_int8({row.data(), &scale, 1, std::ssize(row)}, nullptr); }), "no error");
}

TEST(Int8, ARowHasTheSameBitsAloneAndForAnyThreads) {
  const Int8Product p(530, 200, 140, 5);
  on_every_kernel([&] {
    const auto whole = p.run();
    for (const int threads : {2, 3}) {
      ThreadPool pool(threads);
      EXPECT_TRUE(same_bits(p.run(&pool), whole)) << threads;
    }
    for (const auto& [from, rows] : {std::pair<int64_t, int64_t>{0, 1}, {3, 5}, {100, 16}, {479, 40}, {529, 1}}) {
      const std::vector<float> part(whole.begin() + from * p.n, whole.begin() + (from + rows) * p.n);
      EXPECT_TRUE(same_bits(p.run_rows(from, rows), part)) << from;
    }
  });
}

TEST(Int8, NearTheProductOfFloats) {
  const Int8Product p(20, 50, 300, 6);
  const auto c = p.run();
  double error = 0, size = 0;
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double exact = 0;
      for (int64_t q = 0; q < p.k; ++q)
        exact += static_cast<double>(p.a[static_cast<size_t>(i * p.k + q)]) *
                 static_cast<double>(p.w[static_cast<size_t>(j * p.k + q)]);
      error += std::pow(exact - static_cast<double>(c[static_cast<size_t>(i * p.n + j)]), 2);
      size += exact * exact;
    }
  EXPECT_LT(std::sqrt(error / size), 0.015);
}

TEST(Int8, EpilogueInOrderAndNothingBeyondIsTouched) {
  for (const int64_t n : {5, 16, 130}) {
    const Int8Product p(21, n, 33, 7);
    Random random(8);
    std::vector<float> bias, residual, before(static_cast<size_t>(21 * n));
    for (int64_t i = 0; i < n; ++i) bias.push_back(static_cast<float>(random.normal()));
    for (int64_t i = 0; i < 21 * n; ++i) residual.push_back(static_cast<float>(random.normal()));
    kernels::Epilogue e{.bias = bias.data(), .before = before.data(), .before_stride = n};
    e.activation = Activation::relu;
    e.residual = residual.data();
    e.residual_stride = n;
    on_every_kernel([&] {
      const auto plain = p.run(), c = p.run(nullptr, e, 9);
      for (int64_t i = 0; i < 21; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const auto at = static_cast<size_t>(i * n + j);
          const float z = plain[at] + bias[static_cast<size_t>(j)];
          ASSERT_EQ(before[at], z);
          ASSERT_EQ(c[static_cast<size_t>(i * (n + 9) + j)], std::max(z, 0.0f) + residual[at]);
        }
        for (int64_t j = n; j < n + 9; ++j) ASSERT_EQ(c[static_cast<size_t>(i * (n + 9) + j)], 77.0f);
      }
    });
  }
}

TEST(Int8, HostileNumbers) {
  constexpr float kLargest = std::numeric_limits<float>::max(), kInf = std::numeric_limits<float>::infinity();
  constexpr int64_t k = 70;
  Int8Product p(8, 20, k, 9);
  const auto row = [&](int64_t i) { return p.a.begin() + i * k; };
  row(0)[69] = std::nanf("");
  row(1)[0] = kInf;
  row(2)[40] = -kInf;
  std::fill_n(row(3), k, 0.0f);
  std::fill_n(row(4), k, 1e-40f);                           // too small to have a scale
  std::fill_n(row(5), k, kLargest), row(5)[1] = -kLargest;  // a range that is no number
  std::fill_n(row(6), k, -3.0f);
  std::fill_n(p.w.begin(), k, 0.0f);
  for (float& w : p.w) w *= 1e-3f;
  p.quantize();
  EXPECT_EQ(p.scales[0], 0.0f);
  std::vector<float> first;
  on_every_kernel([&] {
    const auto c = p.run();
    for (int64_t i : {0, 1, 2})
      for (int64_t j = 0; j < p.n; ++j) EXPECT_TRUE(std::isnan(c[static_cast<size_t>(i * p.n + j)])) << i;
    for (int64_t i : {3, 4})
      for (int64_t j = 0; j < p.n; ++j) EXPECT_EQ(c[static_cast<size_t>(i * p.n + j)], 0.0f) << i;
    for (int64_t i : {5, 6, 7}) {
      EXPECT_EQ(c[static_cast<size_t>(i * p.n)], 0.0f);
      for (int64_t j = 1; j < p.n; ++j) EXPECT_TRUE(std::isfinite(c[static_cast<size_t>(i * p.n + j)])) << i;
    }
    double sum = 0;
    for (int64_t q = 0; q < k; ++q) sum += static_cast<double>(p.w[static_cast<size_t>(k + q)]);
    EXPECT_NEAR(c[static_cast<size_t>(6 * p.n + 1)], -3 * sum, 1e-3);
    if (first.empty()) first.assign(c.begin() + 3 * p.n, c.end());
    EXPECT_TRUE(same_bits(std::vector<float>(c.begin() + 3 * p.n, c.end()), first));
  });
}

TEST(Int8, WeightsKeepTheirLargestAndAreCheckedForNumbers) {
  const std::vector<float> w{-2, 1, 0.5f, 0.0079f, 0, 0, 0, 0, 1e-45f, 0, 0, 0};
  std::vector<int8_t> values(12);
  std::vector<float> scales(3);
  kernels::quantize_weights(w.data(), 3, 4, values.data(), scales.data());
  EXPECT_EQ(values, (std::vector<int8_t>{-127, 64, 32, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FLOAT_EQ(scales[0], 2.0f / 127);
  EXPECT_EQ(scales[1], 0.0f);
  EXPECT_EQ(scales[2], 0.0f);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_NE(error_of([&] { kernels::quantize_weights(&bad, 1, 1, values.data(), scales.data()); }), "no error");
}

TEST(Int8, RefusesAForeignPacking) {
  const Int8Product p(1, 3, 4, 10);
  Aligned<int8_t> panels(kernels::packed_int8_bytes(4, 3));
  PackedInt8 packed = kernels::pack_int8({p.values.data(), p.scales.data(), 3, 4}, panels.data());
  packed.panel += 1;
  std::vector<float> c(3);
  EXPECT_NE(
      error_of([&] { kernels::gemm_int8({.m = 1, .a = p.a.data(), .a_stride = 4, .packed = &packed, .c = c.data()}); }),
      "no error");
  EXPECT_NE(error_of([] {
              kernels::force_int8_kernel("abacus");
              kernels::chosen_int8_kernel();
            }),
            "no error");
  kernels::force_int8_kernel("");
}

}  // namespace
}  // namespace attune
