#include "measure/rouge.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "checks.h"

namespace attune::test {
namespace {

int64_t naive_common(const Ids& a, const Ids& b) {
  std::vector<std::vector<int64_t>> t(a.size() + 1, std::vector<int64_t>(b.size() + 1, 0));
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j)
      t[i][j] = a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1 : std::max(t[i - 1][j], t[i][j - 1]);
  return t[a.size()][b.size()];
}

TEST(Rouge, LongestCommonSubsequence) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    Ids a(random.below(200)), b(random.below(200));
    const uint64_t letters = 1 + random.below(20);
    for (Ids* s : {&a, &b})
      for (uint32_t& x : *s) x = static_cast<uint32_t>(random.below(letters));
    ASSERT_EQ(common_subsequence(a, b), naive_common(a, b)) << a.size() << " " << b.size();
  }
  for (int round = 0; round < 200; ++round) {  // words that are rare: whole blocks of 64 that meet nothing
    Ids a(100 + random.below(300)), b(random.below(100));
    for (Ids* s : {&a, &b})
      for (uint32_t& x : *s) x = static_cast<uint32_t>(random.below(8) ? 1000 + random.below(1000) : random.below(3));
    ASSERT_EQ(common_subsequence(a, b), naive_common(a, b)) << a.size() << " " << b.size();
  }
  EXPECT_NE(error_of([] { common_subsequence(Ids(3'000'000, 1), Ids(3'000'000, 1)); }, ErrorKind::data)
                .find("a line of 3,000,000 words beside one of 3,000,000"),
            std::string::npos);
  EXPECT_EQ(common_subsequence(Ids(64, 1), Ids(64, 1)), 64);
  EXPECT_EQ(common_subsequence(Ids(128, 1), Ids(65, 1)), 65);
}

/// A word on both sides of seventy others is one word in common, and at its end two.
TEST(Rouge, WordsFarApart) {
  for (const uint32_t between : {1u, 62u, 63u, 64u, 70u, 127u, 128u, 200u}) {
    Ids a(between + 2);
    for (uint32_t i = 0; i < a.size(); ++i) a[i] = 10 + i;
    a.front() = a.back() = 1;
    EXPECT_EQ(common_subsequence(a, {1}), 1) << between;
    EXPECT_EQ(common_subsequence(a, {1, 1}), 2) << between;
    EXPECT_EQ(common_subsequence(a, {1, 1, 1}), 2) << between;
  }
}

TEST(Rouge, Words) {
  EXPECT_EQ(rouge_words("The CAT's 3.5\u00e9x-\xff!"), (std::vector<std::string>{"the", "cat", "s", "3", "5", "x"}));
  EXPECT_TRUE(rouge_words("日本").empty());
}

}  // namespace
}  // namespace attune::test
