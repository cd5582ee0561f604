#include "kernels/optimizer/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "checks.h"
#include "kernels/isa.h"

namespace attune::kernels {
namespace {

template <class T>
struct AdamState {
  std::vector<T> p, g, m, v;
  explicit AdamState(int64_t n) : p(static_cast<size_t>(n)), g(p), m(p), v(p) {
    Random random(3);
    for (T& x : p) x = static_cast<T>(static_cast<float>(random.normal()));
  }
  void new_gradient(uint64_t seed) {
    Random random(seed);
    for (T& x : g) x = static_cast<T>(static_cast<float>(random.normal() * std::exp2(random.uniform(-20, 5))));
  }
  AdamArrays<T> arrays() { return {p.data(), g.data(), m.data(), v.data(), static_cast<int64_t>(p.size())}; }
};

AdamState<float> adam_trained(int64_t n, ThreadPool* pool = nullptr) {
  AdamState<float> s(n);
  for (int t = 1; t <= 3; ++t) {
    s.new_gradient(static_cast<uint64_t>(t));
    adam({.step = t, .rate = 1e-2, .decay = 0.1, .grad_factor = 0.7}, s.arrays(), pool);
  }
  return s;
}

TEST(Adam, AgreesWithReference) {
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    for (int64_t n : {0, 1, 7, 63, 65, 1000})
      for (double decay : {0.0, 0.3}) {
        AdamState<float> fast(n);
        AdamState<double> exact(n);
        for (int t = 1; t <= 50; ++t) {
          fast.new_gradient(static_cast<uint64_t>(t));
          exact.new_gradient(static_cast<uint64_t>(t));
          const AdamStep step{.step = t, .rate = 1e-2, .decay = decay, .grad_factor = 0.7};
          adam(step, fast.arrays());
          adam_reference(step, exact.arrays());
        }
        for (size_t i = 0; i < exact.p.size(); ++i) {
          ASSERT_NEAR(fast.p[i], exact.p[i], 1e-5) << isa << " " << n << " " << i;
          ASSERT_NEAR(fast.v[i], exact.v[i], 1e-5 * exact.v[i]);
        }
      }
  }
}

/// The first step moves every parameter by the rate, against the sign of its gradient, whatever the gradient's size.
TEST(Adam, FirstStepIsTheRate) {
  float p[3] = {1, 1, 1}, g[3] = {1e-3f, -50, 0}, m[3] = {}, v[3] = {};
  adam({.rate = 0.25}, {p, g, m, v, 3});
  EXPECT_NEAR(p[0], 0.75, 1e-5);
  EXPECT_NEAR(p[1], 1.25, 1e-6);
  EXPECT_EQ(p[2], 1.0f);
}

TEST(Adam, DecayIsDecoupled) {
  float p[1] = {2}, g[1] = {0}, m[1] = {}, v[1] = {};
  adam({.rate = 0.5, .decay = 0.1}, {p, g, m, v, 1});
  EXPECT_NEAR(p[0], 2 * 0.95, 1e-6);
  EXPECT_EQ(m[0], 0.0f);
}

TEST(Adam, BitsDoNotDependOnThreadsCutsOrInstructionSet) {
  constexpr int64_t n = 100003;
  const AdamState<float> alone = adam_trained(n);
  const auto same = [&](const AdamState<float>& s) { return alone.p == s.p && alone.m == s.m && alone.v == s.v; };
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    EXPECT_TRUE(same(adam_trained(n, &pool))) << threads;
  }
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa) || !isa_has_fma(chosen_isa())) continue;
    const IsaScope scope(isa);
    EXPECT_TRUE(same(adam_trained(n))) << isa;
  }
  AdamState<float> whole(100), cut(100);
  whole.new_gradient(1);
  cut.new_gradient(1);
  adam({}, whole.arrays());
  for (int64_t from : {0, 33}) {
    AdamArrays<float> a = cut.arrays();
    adam({}, {a.parameters + from, a.gradients + from, a.first + from, a.second + from, from ? 67 : 33});
  }
  EXPECT_EQ(whole.p, cut.p);
}

TEST(Adam, SaysWhatIsWrong) {
  EXPECT_EQ(error_of([] { adam({.step = 0}, {}); }), "[adam] steps count from 1, this is 0");
}

TEST(SquareNorm, AgreesWithDouble) {
  for (int64_t n : {0, 1, 15, 4095, 4096, 4097, 8192, 100000}) {
    AdamState<float> s(n);
    double exact = 0;
    for (float x : s.p) exact += static_cast<double>(x) * static_cast<double>(x);
    EXPECT_NEAR(square_norm(s.p.data(), n), exact, 1e-6 * exact);
  }
}

TEST(SquareNorm, BitsDoNotDependOnThreadsOrInstructionSet) {
  // the last: more than 256 groups of 8 blocks, so groups double
  for (int64_t n : {int64_t{5000}, int64_t{32768}, int64_t{33000}, int64_t{1000001}, int64_t{256} * 8 * 4096 + 12345}) {
    std::vector<float> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1013) * 1e-3f;
    const double alone = square_norm(x.data(), n);
    for (int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      EXPECT_EQ(square_norm(x.data(), n, &pool), alone) << n << " " << threads;
    }
    for (const std::string& isa : available_isas()) {
      if (!isa_has_fma(isa) || !isa_has_fma(chosen_isa())) continue;
      const IsaScope scope(isa);
      EXPECT_EQ(square_norm(x.data(), n), alone) << n << " " << isa;
    }
  }
}

}  // namespace
}  // namespace attune::kernels
