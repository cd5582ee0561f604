#include "kernels/vocabulary/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "checks.h"

namespace attune::kernels {
namespace {

struct Result {
  std::vector<int32_t> ids;
  std::vector<float> log_probs;
};

Result best_of(std::vector<float> x, int64_t rows, int64_t k, std::vector<int32_t> hidden = {},
               ThreadPool* pool = nullptr) {
  Result r;
  r.ids.resize(static_cast<size_t>(rows * k));
  r.log_probs.resize(r.ids.size());
  candidates({Tensor(x.data(), Shape{rows, std::ssize(x) / rows}),
              {.hidden = hidden},
              Tensor(r.ids.data(), Shape{rows, k}),
              Tensor(r.log_probs.data(), Shape{rows, k})},
             pool);
  return r;
}

std::vector<float> random_rows(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> x(static_cast<size_t>(n));
  for (float& v : x) v = normal(random);
  return x;
}

TEST(Candidates, AreTheBestOfASortedSoftmax) {
  for (const int64_t n : {1, 7, 16, 33, 1000})
    for (const int64_t k : {1, 3, 6}) {
      const auto x = random_rows(n, static_cast<unsigned>(n + k));
      const std::vector<int32_t> hidden = n > 7 ? std::vector<int32_t>{0, 5} : std::vector<int32_t>{};
      const Result r = best_of(x, 1, k, hidden);
      double total = 0;
      for (const float v : x) total += std::exp(static_cast<double>(v));
      std::vector<int32_t> order;
      for (int32_t i = 0; i < n; ++i)
        if (std::count(hidden.begin(), hidden.end(), i) == 0) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return x[size_t(a)] > x[size_t(b)]; });
      for (int64_t j = 0; j < k; ++j) {
        const auto at = static_cast<size_t>(j);
        if (at >= order.size()) {
          EXPECT_EQ(r.ids[at], -1);
          EXPECT_EQ(r.log_probs[at], -INFINITY);
          continue;
        }
        EXPECT_EQ(r.ids[at], order[at]);
        const double want = static_cast<double>(x[static_cast<size_t>(order[at])]) - std::log(total);
        EXPECT_NEAR(r.log_probs[at], want, 2e-6 * (1 + std::abs(want)));
      }
    }
}

TEST(Candidates, OfEqualOnesTheLowerColumnComesFirst) {
  std::vector<float> x(50, 1.0f);
  x[40] = 2;
  EXPECT_EQ(best_of(x, 1, 4).ids, (std::vector<int32_t>{40, 0, 1, 2}));
}

TEST(Candidates, WhatIsUnsaidCountsInTheSum) {
  auto x = random_rows(100, 3);
  x[17] = 20;  // hidden, and nearly all of the probability
  x[60] = 19;  // banned in the second row alone
  std::vector<float> both = x;
  both.insert(both.end(), x.begin(), x.end());
  const std::vector<int32_t> hidden{3, 17}, start{0, 0, 1}, banned{60};
  std::vector<int32_t> ids(4);
  std::vector<float> log_probs(4);
  candidates({Tensor(both.data(), Shape{2, 100}),
              {.hidden = hidden, .start = start, .banned = banned},
              Tensor(ids.data(), Shape{2, 2}),
              Tensor(log_probs.data(), Shape{2, 2})});
  double total = 0;
  for (const float v : x) total += std::exp(static_cast<double>(v));
  EXPECT_EQ(ids[0], 60);
  EXPECT_EQ(ids[2], ids[1]) << "without the banned one the second is the first";
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(log_probs[i], static_cast<double>(x[static_cast<size_t>(ids[i])]) - std::log(total), 3e-5);
}

TEST(Candidates, NotANumberIsNeverChosen) {
  std::vector<float> x(40, NAN);
  EXPECT_EQ(best_of(x, 1, 2).ids, (std::vector<int32_t>{-1, -1}));
  x[20] = 3;
  const Result r = best_of(x, 1, 2);
  EXPECT_EQ(r.ids, (std::vector<int32_t>{20, -1}));
  EXPECT_NEAR(r.log_probs[0], 0, 1e-6) << "nor does it spoil the others";
}

TEST(Candidates, RowsThreadsAndInstructionSetsGiveTheSameBits) {
  const int64_t rows = 64, cols = 777;
  const auto x = random_rows(rows * cols, 5);
  const Result want = best_of(x, rows, 6);
  ThreadPool pool(3);
  const Result threaded = best_of(x, rows, 6, {}, &pool);
  EXPECT_TRUE(same_bits(threaded.log_probs, want.log_probs) && threaded.ids == want.ids);
  for (const std::string& isa : available_isas()) {
    if (!isa_has_fma(isa)) continue;
    const IsaScope scope(isa);
    const Result r = best_of(x, rows, 6);
    EXPECT_TRUE(same_bits(r.log_probs, want.log_probs) && r.ids == want.ids) << isa;
  }
  const Result one = best_of({x.begin() + 10 * cols, x.begin() + 11 * cols}, 1, 6);
  EXPECT_TRUE(same_bits(one.log_probs, {want.log_probs.begin() + 60, want.log_probs.begin() + 66}));
}

}  // namespace
}  // namespace attune::kernels
