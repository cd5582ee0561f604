#include "kernels/optimizer/adafactor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "checks.h"

namespace attune::kernels {
namespace {

template <class T>
struct AdafactorState {
  int64_t n, m;
  std::vector<T> p, g, rows, columns, scratch;
  AdafactorState(int64_t n_, int64_t m_)
      : n(n_),
        m(m_),
        p(static_cast<size_t>(n * m)),
        g(p),
        rows(static_cast<size_t>(n)),
        columns(static_cast<size_t>(m)) {
    scratch.resize(static_cast<size_t>(n + m));
    Random random(3);
    for (T& x : p) x = static_cast<T>(static_cast<float>(random.normal()));
  }
  /// Rows of very different size, some of them zero.
  void new_gradient(uint64_t seed) {
    Random random(seed);
    for (int64_t i = 0; i < n; ++i) {
      const double scale = i % 5 == 4 ? 0 : std::exp2(random.uniform(-20, 5));
      for (int64_t j = 0; j < m; ++j)
        g[static_cast<size_t>(i * m + j)] = static_cast<T>(static_cast<float>(random.normal() * scale));
    }
  }
  void update(int t, bool relative, bool vector, ThreadPool* pool = nullptr) {
    AdafactorStep s{.rate = 0.02, .beta2 = 1 - std::pow(t, -0.8), .relative = relative};
    s.decay = 0.1;
    s.grad_factor = 0.7;
    new_gradient(static_cast<uint64_t>(t));
    const AdafactorMatrix<T> a{p.data(), g.data(), vector ? nullptr : rows.data(), columns.data(), scratch.data(),
                               n,        m};
    if constexpr (sizeof(T) == 4)
      adafactor(s, a, pool);
    else
      adafactor_reference(s, a);
  }
};

TEST(Adafactor, AgreesWithReference) {
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    for (const auto& [n, m] : {std::pair{1, 1}, {1, 65}, {7, 1}, {3, 63}, {200, 17}, {9, 130}})
      for (const bool relative : {false, true}) {
        AdafactorState<float> fast(n, m);
        AdafactorState<double> exact(n, m);
        for (int t = 1; t <= 20; ++t) {
          fast.update(t, relative, n == 1);
          exact.update(t, relative, n == 1);
        }
        for (size_t i = 0; i < exact.p.size(); ++i)
          ASSERT_NEAR(fast.p[i], exact.p[i], 2e-5) << isa << " " << n << " x " << m << " " << i;
        for (size_t j = 0; j < exact.columns.size(); ++j)
          ASSERT_NEAR(fast.columns[j], exact.columns[j], 1e-5 * exact.columns[j]);
        for (size_t i = 0; n > 1 && i < exact.rows.size(); ++i)
          ASSERT_NEAR(fast.rows[i], exact.rows[i], 1e-5 * exact.rows[i]);
      }
  }
}

/// A matrix of one row is factored without loss: what a vector does.
TEST(Adafactor, OneRowIsAVector) {
  AdafactorState<double> matrix(1, 9), vector(1, 9);
  for (int t = 1; t <= 5; ++t) {
    matrix.update(t, true, false);
    vector.update(t, true, true);
  }
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(matrix.p[i], vector.p[i], 1e-12);
}

TEST(Adafactor, NothingMovesWithoutAGradient) {
  std::vector<float> p{1, -2, 3, 4}, g(4), rows(2), columns(2), scratch(4);
  adafactor({.beta2 = 0}, {p.data(), g.data(), rows.data(), columns.data(), scratch.data(), 2, 2});
  EXPECT_EQ(p, (std::vector<float>{1, -2, 3, 4}));
}

/// Weights that are zero, or nearly, move as if their root mean square were epsilon2: 0.01 x 0.001 for a gradient of 1.
TEST(Adafactor, ZeroWeightsMove) {
  for (const float begin : {0.0f, 1e-7f}) {
    std::vector<float> p(6, begin), g{1, 1, 1, -1, -1, -1}, rows(2), columns(3), scratch(5);
    adafactor({.rate = 0.01, .beta2 = 0}, {p.data(), g.data(), rows.data(), columns.data(), scratch.data(), 2, 3});
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(p[i] - begin, i < 3 ? -1e-5 : 1e-5, 1e-11) << i;
  }
  std::vector<float> p(4, 2.0f), g{1, 1, 1, 1}, rows(2), columns(2), scratch(4);
  adafactor({.rate = 0.01, .beta2 = 0}, {p.data(), g.data(), rows.data(), columns.data(), scratch.data(), 2, 2});
  for (const float x : p) EXPECT_NEAR(x, 2 - 0.01 * 2, 1e-6) << "others by a share of their own";
}

AdafactorState<float> adafactor_trained(ThreadPool* pool) {
  AdafactorState<float> s(501, 203);
  for (int t = 1; t <= 3; ++t) s.update(t, true, false, pool);
  return s;
}

TEST(Adafactor, BitsDoNotDependOnThreadsOrInstructionSet) {
  const AdafactorState<float> alone = adafactor_trained(nullptr);
  const auto same = [&](const AdafactorState<float>& s) {
    return alone.p == s.p && alone.rows == s.rows && alone.columns == s.columns;
  };
  for (const int threads : {2, 3}) {
    ThreadPool pool(threads);
    EXPECT_TRUE(same(adafactor_trained(&pool))) << threads;
  }
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa) || !isa_has_fma(chosen_isa())) continue;
    const IsaScope scope(isa);
    EXPECT_TRUE(same(adafactor_trained(nullptr))) << isa;
  }
}

}  // namespace
}  // namespace attune::kernels
