// The memory of decoding: a row is found wherever it was written, and a window forgets.
#include "model/attention/key_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace attune {
namespace {

/// Steps of a row each hypothesis remembers, kept naively.
struct Plain {
  std::vector<std::vector<float>> said;  // per hypothesis

  void reorder(const std::vector<int32_t>& parents) {
    std::vector<std::vector<float>> next;
    for (const int32_t p : parents) next.push_back(said[static_cast<size_t>(p)]);
    said = next;
  }
};

void check_window(int64_t window, const std::function<bool(int64_t)>& stays = {}) {
  KeyCache cache(4, 3, window, stays);
  Plain plain;
  plain.said.resize(4);
  std::mt19937 random(3);
  float number = 0;
  for (int step = 0; step < 300; ++step) {
    const auto rows = static_cast<int64_t>(plain.said.size());
    cache.append(rows);
    for (int64_t i = 0; i < rows; ++i) {
      std::fill_n(cache.row(i), 3, ++number);
      plain.said[static_cast<size_t>(i)].push_back(number);
    }
    if (!stays) { ASSERT_EQ(cache.kept(), std::min<int64_t>(step + 1, window)); }
    for (int64_t at = 0; at <= step; ++at) {
      const int64_t index = cache.index_of(at);
      if (at <= step - window && !(stays && stays(at))) {
        EXPECT_EQ(index, -1) << "step " << step << ", " << at;
        continue;
      }
      ASSERT_GE(index, 0) << "step " << step << ", " << at;
      for (int64_t i = 0; i < rows; ++i) {
        const float* row = cache.paged(0).row(cache.ancestors()[index * rows + i]);
        ASSERT_EQ(row[2], plain.said[static_cast<size_t>(i)][static_cast<size_t>(at)]) << "step " << step << ", " << at;
      }
    }
    if (step % 3 != 2) continue;
    std::vector<int32_t> parents(1 + random() % 6);
    for (int32_t& p : parents) p = static_cast<int32_t>(random() % static_cast<unsigned>(rows));
    cache.reorder(parents);
    plain.reorder(parents);
  }
}

TEST(KeyCache, EveryHypothesisFindsItsOwnPast) { check_window(KeyCache::kEverything); }

TEST(KeyCache, AWindowKeepsTheLastSteps) {
  for (const int64_t window : {1, 2, 7, 64}) check_window(window);
}

TEST(KeyCache, SomeOutlastTheWindow) {
  for (const int64_t window : {1, 7, 64}) {
    check_window(window, [](int64_t at) { return at < 3; });
    check_window(window, [](int64_t at) { return at % 9 > 6; });
  }
}

TEST(KeyCache, WhatOutlastsTheWindowIsAllThatGrows) {
  KeyCache first(5, 16, 128, [](int64_t at) { return at < 10; });
  KeyCache tenth(5, 16, 128, [](int64_t at) { return at % 10 == 0; });
  int64_t early = 0;
  for (int step = 0; step < 20000; ++step) {
    first.append(5);
    tenth.append(5);
    if (step == 1000) early = first.bytes();
  }
  EXPECT_EQ(first.bytes(), early);
  EXPECT_LT(tenth.bytes(), 4 * 16 * 5 * (20000 / 10 + 4 * 128));
  EXPECT_LT(first.kept(), 2 * (128 + 10) + 1);
}

TEST(KeyCache, AWindowIsARing) {
  KeyCache cache(5, 16, 128);
  for (int step = 0; step < 1000; ++step) cache.append(5);
  const int64_t bytes = cache.bytes();
  for (int step = 0; step < 20000; ++step) cache.append(5);
  EXPECT_EQ(cache.bytes(), bytes);
  EXPECT_LT(bytes, 2 * 128 * 5 * 16 * 4);
}

TEST(KeyCache, SharedRowsComeFirst) {
  KeyCache cache(2, 1);
  cache.share(3);
  for (int64_t i = 0; i < 3; ++i) *cache.shared_row(i) = static_cast<float>(100 + i);
  cache.append(2);
  *cache.row(0) = 1;
  *cache.row(1) = 2;
  cache.reorder(std::vector<int32_t>{1, 1, 0});
  ASSERT_EQ(cache.kept(), 4);
  const float want[4][3] = {{100, 100, 100}, {101, 101, 101}, {102, 102, 102}, {2, 2, 1}};
  for (int64_t t = 0; t < 4; ++t)
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(*cache.paged(0).row(cache.ancestors()[t * 3 + i]), want[t][i]);
}

}  // namespace
}  // namespace attune
