#include "measure/error_rate.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace attune::test {
namespace {

/// Errors and, for these, the fewest substitutions.
std::pair<int64_t, int64_t> naive_distance(const Ids& a, const Ids& b) {
  using Cost = std::pair<int64_t, int64_t>;
  std::vector<std::vector<Cost>> t(a.size() + 1, std::vector<Cost>(b.size() + 1));
  const auto plus = [](Cost c, int64_t errors, int64_t substitutions) {
    return Cost{c.first + errors, c.second + substitutions};
  };
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 && j == 0) continue;
      Cost best{1 << 30, 0};
      if (i > 0) best = std::min(best, plus(t[i - 1][j], 1, 0));
      if (j > 0) best = std::min(best, plus(t[i][j - 1], 1, 0));
      if (i > 0 && j > 0) best = std::min(best, a[i - 1] == b[j - 1] ? t[i - 1][j - 1] : plus(t[i - 1][j - 1], 1, 1));
      t[i][j] = best;
    }
  return t[a.size()][b.size()];
}

TEST(ErrorRate, LeastEdits) {
  Random random(9);
  for (int round = 0; round < 150; ++round) {
    Ids a(random.below(round % 10 == 0 ? 300 : 90)), b(random.below(90));
    const uint64_t letters = 1 + random.below(12);
    for (Ids* s : {&a, &b})
      for (uint32_t& x : *s) x = static_cast<uint32_t>(random.below(letters));
    const Edits e = least_edits(a, b);
    const auto [errors, substitutions] = naive_distance(a, b);
    ASSERT_EQ(e.errors(), errors) << a.size() << " " << b.size();
    ASSERT_EQ(e.substitutions, substitutions);
    ASSERT_EQ(e.right + e.substitutions + e.deletions, std::ssize(b));
    ASSERT_EQ(e.right + e.substitutions + e.insertions, std::ssize(a));
    ASSERT_TRUE(e.exact);
  }
}

TEST(ErrorRate, LongSimilarTextsAreQuickAndExact) {
  Ids a;
  for (uint32_t i = 0; i < 200000; ++i) a.push_back(i * i % 1013);
  Ids b = a;
  b.erase(b.begin() + 50000);
  b[100000] = 5000;
  b.insert(b.begin() + 150000, 5000);
  const Edits e = least_edits(a, b);
  EXPECT_TRUE(e.exact);
  EXPECT_EQ(e.errors(), 3);
  EXPECT_EQ(e.substitutions, 1);
}

TEST(ErrorRate, WordsAndCharacters) {
  const MetricResult w = measure("wer", {"the cat sat", "A"}, {{"the cat sat down", "a"}});
  EXPECT_NEAR(w.score, 40, 1e-12);
  EXPECT_EQ(w.text, "WER = 40.00 % (1 substitutions, 1 deletions, 0 insertions, 5 words of reference)");
  EXPECT_NEAR(measure("wer", {"the cat sat", "A"}, {{"the cat sat down", "a"}}, {.lowercase = true}).score, 20, 1e-12);
  EXPECT_NEAR(measure("cer", {" né "}, {{"nä"}}).score, 50, 1e-12) << "characters, not bytes; outer blanks are none";
  EXPECT_NEAR(measure("wer", {"a b"}, {{"x y z"}, {"a c"}}).score, 50, 1e-12) << "the nearest reference";
  EXPECT_EQ(measure("wer", {"a"}, {{""}}).score, 100);
  EXPECT_EQ(measure("wer", {""}, {{""}}).score, 0);
}

}  // namespace
}  // namespace attune::test
