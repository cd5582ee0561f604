#include "inference/sentences.h"

#include <gtest/gtest.h>

namespace attune::test {
namespace {

using Views = std::vector<std::string_view>;

TEST(Sentences, EndAtTheirMarks) {
  EXPECT_EQ(sentences_of("A dog runs. It is fast!  Why?"), (Views{"A dog runs.", "It is fast!", "Why?"}));
  EXPECT_EQ(sentences_of("He said: \"Go now!\" She went ... Then (at last.) it ended"),
            (Views{"He said: \"Go now!\"", "She went ...", "Then (at last.) it ended"}));
  EXPECT_EQ(sentences_of("犬が走る。猫は？「寝る！」と言う"), (Views{"犬が走る。", "猫は？", "「寝る！」", "と言う"}));
  EXPECT_EQ(sentences_of("هل تأتي؟ نعم أنا آت۔ حسنا جدا"), (Views{"هل تأتي؟", "نعم أنا آت۔", "حسنا جدا"}));
}

TEST(Sentences, DoNotEndInNumbersAndAbbreviations) {
  EXPECT_EQ(sentences_of("It costs 3.50 at example.com today. Dr. Smith pays."),
            (Views{"It costs 3.50 at example.com today.", "Dr. Smith pays."}));
  EXPECT_EQ(sentences_of("Cats, dogs, etc. and more. Das ist z. B. über alles."),
            (Views{"Cats, dogs, etc. and more.", "Das ist z. B. über alles."}));
}

TEST(Sentences, OfAnythingAtAll) {
  EXPECT_EQ(sentences_of(""), Views{});
  EXPECT_EQ(sentences_of("   "), Views{});
  EXPECT_EQ(sentences_of("..."), Views{"..."});
  EXPECT_EQ(sentences_of("no mark"), Views{"no mark"});
  EXPECT_EQ(sentences_of(" \xff. \xfe! a"), Views{"\xff. \xfe! a"}) << "single words join what follows";
}

TEST(Sentences, ABlankBetweenThemWhereTheScriptHasOne) {
  EXPECT_TRUE(blank_between("A.", "B."));
  EXPECT_FALSE(blank_between("犬。", "猫。"));
  EXPECT_FALSE(blank_between("", "B"));
  EXPECT_TRUE(blank_between("개가 뛴다.", "그렇다."));
}

}  // namespace
}  // namespace attune::test
