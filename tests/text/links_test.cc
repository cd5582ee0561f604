#include "text/links.h"

#include <gtest/gtest.h>

#include "text/piece_words.h"

namespace attune::text {
namespace {

TEST(Links, AreReadInTheirOrder) {
  std::vector<Link> links{{9, 9}};
  EXPECT_EQ(read_links(" 3-0\t0-12  1p2 \r", links), "");
  EXPECT_EQ(links, (std::vector<Link>{{3, 0}, {0, 12}, {1, 2, true}}));
  EXPECT_EQ(read_links("", links), "");
  EXPECT_TRUE(links.empty());
}

TEST(Links, NameWhatIsNone) {
  std::vector<Link> links;
  for (const char* bad : {"-", "p", "1", "1-", "-1", "1-2-3", "1--2", "+1-2", "1-+2", "1q2", "1.5-2", "x-1", "1-1x"})
    EXPECT_EQ(read_links(std::string("0-0 ") + bad + " 1-1", links), bad);
}

TEST(PieceWords, AreCounted) {
  EXPECT_EQ(count_words(""), 0);
  EXPECT_EQ(count_words(" \t "), 0);
  EXPECT_EQ(count_words(" a  b\tc"), 3);
  EXPECT_EQ(words_of_characters(" a  bc\tä"), (std::vector<int>{-1, 0, 0, 0, 1, 1, 1, 2}));
}

}  // namespace
}  // namespace attune::text
