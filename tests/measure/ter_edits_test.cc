#include "measure/ter_edits.h"

#include <gtest/gtest.h>

#include "measure/ter.h"
#include "measure/words.h"

namespace attune::test {
namespace {

int64_t edits(const std::string& said, const std::string& right) {
  const auto ids = number_words({split_words(said), split_words(right)});
  return shift_edits(ids[0], ids[1]);
}

/// Counted by hand.
TEST(Ter, CountsEditsAndMoves) {
  EXPECT_EQ(edits("", ""), 0);
  EXPECT_EQ(edits("a b c", ""), 3);
  EXPECT_EQ(edits("", "a b c"), 3);
  EXPECT_EQ(edits("a b c", "a b c"), 0);
  EXPECT_EQ(edits("a x c", "a b c"), 1);
  EXPECT_EQ(edits("c d e a b", "a b c d e"), 1) << "a run of words moves at once";
  EXPECT_EQ(edits("this week the saudis denied information published in the new york times",
                  "saudi arabia denied this week information published in the american new york times"),
            4)
      << "the example of Snover et al. 2006";
}

TEST(Ter, VeryLongAndVeryUnequalLinesEnd) {
  Ids many, other;
  for (uint32_t i = 0; i < 20000; ++i) {
    many.push_back(i * i % 101);
    other.push_back((i * 7 + i / 50) % 101);
  }
  EXPECT_GT(shift_edits(many, other), 0);
  EXPECT_EQ(shift_edits(many, many), 0);
  EXPECT_EQ(shift_edits({0}, many), 19999);
  EXPECT_EQ(shift_edits(many, {0}), 19999);
  EXPECT_EQ(shift_edits({0, 1, 2}, Ids(20000, 7)), 20000);
}

/// What sacreBLEU 2.6.0 makes of these lines.
TEST(Ter, WordsAreTercoms) {
  const auto words = [](const std::string& line, const TerOptions& options) { return tercom_words(line, options); };
  EXPECT_EQ(words("It's Tom's.  A dog's tail", {}), "it's tom's. a dog's tail");
  EXPECT_EQ(words("It's", {.case_sensitive = true}), "It's");
  EXPECT_EQ(words("It's Tom's. A dog's (tail), 1,000.5 &quot;x&quot; 5-6", {.normalized = true}),
            "it 's tom's . a dog 's ( tail ) , 1,000.5 \" x \" 5 - 6");
  EXPECT_EQ(words("中文，测试。abc", {.normalized = true, .asian_support = true}), "中 文 ， 测 试 。 abc");
  EXPECT_EQ(words("a, b. (c) \"d\"! 中。", {.no_punct = true}), "a b c d 中。");
  EXPECT_EQ(words("a, 中。", {.no_punct = true, .asian_support = true}), "a 中");
}

}  // namespace
}  // namespace attune::test
