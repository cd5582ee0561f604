#include "kernels/optimizer/sgd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "checks.h"

namespace attune::kernels {
namespace {

template <class T>
struct SgdState {
  std::vector<T> p, g, v;
  explicit SgdState(int64_t n) : p(static_cast<size_t>(n)), g(p), v(p) {
    Random random(3);
    for (T& x : p) x = static_cast<T>(static_cast<float>(random.normal()));
  }
  void new_gradient(uint64_t seed) {
    Random random(seed);
    for (T& x : g) x = static_cast<T>(static_cast<float>(random.normal()));
  }
  SgdArrays<T> arrays(bool momentum) {
    return {p.data(), g.data(), momentum ? v.data() : nullptr, static_cast<int64_t>(p.size())};
  }
};

SgdStep step_of(bool nesterov) {
  return {.rate = 0.02, .momentum = 0.8, .decay = 0.1, .grad_factor = 0.7, .nesterov = nesterov};
}

TEST(Sgd, AgreesWithReference) {
  for (const std::string& isa : available_isas()) {
    const IsaScope scope(isa);
    for (const int64_t n : {0, 1, 7, 63, 65, 1000})
      for (const int variant : {0, 1, 2}) {  // none, momentum, Nesterov's
        SgdState<float> fast(n);
        SgdState<double> exact(n);
        for (uint64_t t = 1; t <= 20; ++t) {
          fast.new_gradient(t);
          exact.new_gradient(t);
          sgd(step_of(variant == 2), fast.arrays(variant > 0));
          sgd_reference(step_of(variant == 2), exact.arrays(variant > 0));
        }
        for (size_t i = 0; i < exact.p.size(); ++i) {
          ASSERT_NEAR(fast.p[i], exact.p[i], 1e-5) << isa << " " << n << " " << variant;
          ASSERT_NEAR(fast.v[i], exact.v[i], 1e-5);
        }
      }
  }
}

SgdState<float> sgd_trained(ThreadPool* pool) {
  SgdState<float> s(100003);
  for (uint64_t t = 1; t <= 3; ++t) {
    s.new_gradient(t);
    sgd(step_of(true), s.arrays(true), pool);
  }
  move_average(s.v.data(), s.p.data(), 100003, 0.3, pool);
  return s;
}

TEST(Sgd, BitsDoNotDependOnThreadsOrInstructionSet) {
  const SgdState<float> alone = sgd_trained(nullptr);
  for (const int threads : {2, 3}) {
    ThreadPool pool(threads);
    const SgdState<float> s = sgd_trained(&pool);
    EXPECT_TRUE(alone.p == s.p && alone.v == s.v) << threads;
  }
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa) || !isa_has_fma(chosen_isa())) continue;
    const IsaScope scope(isa);
    const SgdState<float> s = sgd_trained(nullptr);
    EXPECT_TRUE(alone.p == s.p && alone.v == s.v) << isa;
  }
}

TEST(MoveAverage, GoesTowardsTheNumbers) {
  std::vector<float> average{1, 2, -4}, now{3, 2, 4};
  move_average(average.data(), now.data(), 3, 0.25);
  EXPECT_EQ(average, (std::vector<float>{1.5f, 2, -2}));
  move_average(average.data(), now.data(), 3, 1);
  EXPECT_EQ(average, now);
}

}  // namespace
}  // namespace attune::kernels
