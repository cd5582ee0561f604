#include "kernels/matrix/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/random.h"
#include "checks.h"
#include "kernels/isa.h"

namespace attune {
namespace {

using kernels::Gemm;

std::vector<float> numbers(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = static_cast<float>(random.normal());
  return v;
}

/// One product with memory of its own; strides are larger than the rows and the space between stays untouched.
struct Product {
  int64_t m, n, k;
  bool a_transposed, b_transposed;
  std::vector<float> a, b;
  int64_t a_stride, b_stride;

  Product(int64_t m, int64_t n, int64_t k, bool ta, bool tb, uint64_t seed)
      : m(m), n(n), k(k), a_transposed(ta), b_transposed(tb), a_stride((ta ? m : k) + 3), b_stride((tb ? k : n) + 5) {
    a = numbers((ta ? k : m) * a_stride, seed);
    b = numbers((tb ? n : k) * b_stride, seed + 1);
  }
  float a_at(int64_t i, int64_t p) const {
    return a[static_cast<size_t>(a_transposed ? p * a_stride + i : i * a_stride + p)];
  }
  float b_at(int64_t p, int64_t j) const {
    return b[static_cast<size_t>(b_transposed ? j * b_stride + p : p * b_stride + j)];
  }
  Gemm args(std::vector<float>& c, int64_t c_stride) const {
    Gemm g;
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = a.data();
    g.a_stride = a_stride;
    g.a_transposed = a_transposed;
    g.b = b.data();
    g.b_stride = b_stride;
    g.b_transposed = b_transposed;
    g.c = c.data();
    g.c_stride = c_stride;
    return g;
  }
  std::vector<float> run(ThreadPool* pool = nullptr) const {
    std::vector<float> c(static_cast<size_t>(m * n));
    kernels::gemm(args(c, n), pool);
    return c;
  }
  std::vector<float> run_packed(ThreadPool* pool = nullptr) const {
    Aligned<float> panels(kernels::packed_floats(k, n));
    const PackedMatrix packed = kernels::pack(b.data(), b_stride, b_transposed, k, n, panels.data(), pool);
    std::vector<float> c(static_cast<size_t>(m * n));
    Gemm g = args(c, n);
    g.b = nullptr;
    g.packed = &packed;
    kernels::gemm(g, pool);
    return c;
  }
};

Product random_product(Random& random, uint64_t seed) {
  const auto size = [&] { return static_cast<int64_t>(1 + random.below(random.below(4) == 0 ? 600 : 70)); };
  const int64_t m = size(), n = size(), k = size();
  const uint64_t flags = random.below(4);
  return {m, n, k, (flags & 1) != 0, (flags & 2) != 0, seed};
}

TEST(Gemm, NearTheSumInDouble) {
  Random random(5);
  for (uint64_t t = 0; t < 60; ++t) {
    const Product x = random_product(random, 100 + 2 * t);
    const auto c = x.run();
    for (int64_t i = 0; i < x.m; i += 3)
      for (int64_t j = 0; j < x.n; j += 3) {
        double exact = 0, size = 0;
        for (int64_t p = 0; p < x.k; ++p) {
          const double term = static_cast<double>(x.a_at(i, p)) * static_cast<double>(x.b_at(p, j));
          exact += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(c[static_cast<size_t>(i * x.n + j)], exact, 1e-6 * size + 1e-30) << x.m << ' ' << x.n << ' ' << x.k;
      }
  }
}

TEST(Gemm, ARowHasTheSameBitsAlone) {
  Random random(7);
  for (uint64_t t = 0; t < 200; ++t) {
    const Product x = random_product(random, 1000 + 2 * t);
    const auto whole = x.run();
    ASSERT_TRUE(same_bits(whole, x.run_packed())) << x.m << ' ' << x.n << ' ' << x.k;
    for (int64_t i = 0; i < x.m; i += std::max<int64_t>(1, x.m / 7)) {
      Product row(1, x.n, x.k, false, x.b_transposed, 0);
      row.b = x.b;
      row.b_stride = x.b_stride;
      for (int64_t p = 0; p < x.k; ++p) row.a[static_cast<size_t>(p)] = x.a_at(i, p);
      const std::vector<float> expected(whole.begin() + i * x.n, whole.begin() + (i + 1) * x.n);
      ASSERT_TRUE(same_bits(row.run(), expected)) << x.m << ' ' << x.n << ' ' << x.k << " row " << i;
      ASSERT_TRUE(same_bits(row.run_packed(), expected)) << x.m << ' ' << x.n << ' ' << x.k << " row " << i;
    }
  }
}

TEST(Gemm, SameBitsForAnyThreadsAndInstructionSet) {
  for (const Product& x : {Product(300, 200, 1100, false, true, 1), Product(97, 1000, 513, true, false, 2),
                           Product(1, 2100, 700, false, false, 3), Product(7, 65, 2000, false, false, 4)}) {
    const auto expected = x.run();
    for (int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      EXPECT_TRUE(same_bits(x.run(&pool), expected)) << threads;
      EXPECT_TRUE(same_bits(x.run_packed(&pool), expected)) << threads;
    }
    if (!isa_has_fma(chosen_isa())) continue;
    for (const auto& isa : available_isas()) {
      if (!isa_has_fma(isa)) continue;
      const IsaScope scope(isa);
      EXPECT_TRUE(same_bits(x.run(), expected)) << isa;
      EXPECT_TRUE(same_bits(x.run_packed(), expected)) << isa;
    }
  }
}

TEST(Gemm, EveryInstructionSetIsRight) {
  const Product x(37, 83, 129, true, true, 11);
  const auto expected = x.run();
  for (const auto& isa : available_isas()) {
    const IsaScope scope(isa);
    const auto c = x.run(), packed = x.run_packed();
    for (size_t i = 0; i < c.size(); ++i) {
      EXPECT_NEAR(c[i], expected[i], 1e-4) << isa;
      EXPECT_EQ(c[i], packed[i]) << isa;
    }
  }
}

TEST(Gemm, AddsAndLeavesTheRestAlone) {
  const Product x(13, 21, 17, false, true, 21);
  const auto plain = x.run();
  std::vector<float> c(13 * 30, 0.5f);
  Gemm g = x.args(c, 30);
  g.add = true;
  kernels::gemm(g);
  for (int64_t i = 0; i < 13; ++i)
    for (int64_t j = 0; j < 30; ++j) {
      const auto at = static_cast<size_t>(i * 30 + j);
      if (j < 21)
        EXPECT_NEAR(c[at], plain[static_cast<size_t>(i * 21 + j)] + 0.5f, 1e-5);
      else
        EXPECT_EQ(c[at], 0.5f);
    }
}

TEST(Gemm, EpilogueInOrder) {
  for (int64_t n : {5, 16, 130}) {
    const Product x(9, n, 33, false, false, 31);
    const auto plain = x.run(), bias = numbers(n, 41), residual = numbers(9 * n, 42);
    std::vector<float> c(static_cast<size_t>(9 * n)), before(c.size());
    Gemm g = x.args(c, n);
    g.epilogue.bias = bias.data();
    g.epilogue.before = before.data();
    g.epilogue.before_stride = n;
    g.epilogue.activation = Activation::relu;
    g.epilogue.residual = residual.data();
    g.epilogue.residual_stride = n;
    kernels::gemm(g);
    for (size_t i = 0; i < c.size(); ++i) {
      const float z = plain[i] + bias[i % static_cast<size_t>(n)];
      EXPECT_EQ(before[i], z);
      EXPECT_EQ(c[i], std::max(z, 0.0f) + residual[i]);
    }
  }
}

TEST(Gemm, EmptySums) {
  const Product x(3, 4, 0, false, false, 51);
  for (float v : x.run()) EXPECT_EQ(v, 0.0f);
  for (float v : x.run_packed()) EXPECT_EQ(v, 0.0f);
  EXPECT_TRUE(Product(0, 4, 3, false, false, 52).run().empty());
  EXPECT_TRUE(Product(4, 0, 3, false, false, 53).run().empty());
}

TEST(Gemm, RefusesAForeignPacking) {
  const Product x(3, 40, 5, false, false, 61);
  Aligned<float> panels(kernels::packed_floats(5, 40) * 4);
  PackedMatrix packed = kernels::pack(x.b.data(), x.b_stride, false, 5, 40, panels.data());
  std::vector<float> c(3 * 40);
  Gemm g = x.args(c, 40);
  g.packed = &packed;
  packed.panel += 1;
  EXPECT_THROW(kernels::gemm(g), Error);
  packed.panel -= 1;
  packed.k = 6;
  EXPECT_THROW(kernels::gemm(g), Error);
}

}  // namespace
}  // namespace attune
