#include "decode/shortlist.h"

#include <gtest/gtest.h>

#include "checks.h"
#include "data/files.h"

namespace attune {
namespace {

using Ids = std::vector<int32_t>;

Shortlist example() { return Shortlist(200, {9, 2, 150, 9}, {{}, {4, 2, 199}, {}, {100, 4}, {}}); }

TEST(Shortlist, WordsOfALine) {
  const Shortlist list = example();
  EXPECT_EQ(list.ids_of({}), (Ids{2, 9, 150}));
  EXPECT_EQ(list.ids_of(Ids{1}), (Ids{2, 4, 9, 150, 199}));
  EXPECT_EQ(list.ids_of(Ids{3, 1, 3, 0}), (Ids{2, 4, 9, 100, 150, 199}));
  EXPECT_EQ(list.ids_of(Ids{-1, 5, 1000}), list.ids_of({})) << "what is no word brings nothing";
  EXPECT_EQ(list.source_words(), 5);
  EXPECT_EQ(list.translations(), 4) << "what may always be said is not said twice";
  EXPECT_NE(error_of([] { Shortlist(10, {10}, {}); }).find("there are 10 words, not 10"), std::string::npos);
  EXPECT_NE(error_of([] { Shortlist(10, {}, {{-1, 3}}); }).find("there are 10 words"), std::string::npos);
}

TEST(Shortlist, AFileAndBack) {
  const Shortlist list = example();
  const std::string text = list.text();
  EXPECT_EQ(text, "attune shortlist 1: 5 source words, 200 target words\nalways: 2 9 150\n1: 4 199\n3: 4 100\n");
  const test::TempFolder folder;
  const Shortlist again = Shortlist::load(test::put(folder / "shortlist.txt", text), 5, 200);
  EXPECT_EQ(again.text(), text);
  EXPECT_EQ(again.source_words(), 5);
  EXPECT_EQ(again.ids_of(Ids{4, 1}), list.ids_of(Ids{4, 1}));
  const std::string nothing = Shortlist(7, {}, std::vector<Ids>(3)).text();
  EXPECT_EQ(Shortlist::parse(nothing, "x", 3, 7).text(), nothing);
}

TEST(Shortlist, BrokenFilesSayWhere) {
  const std::string sizes = "attune shortlist 1: 5 source words, 200 target words\n";
  const auto error = [](const std::string& text) {
    const std::string e = error_of([&] { Shortlist::parse(text, "list", 5, 200); }, ErrorKind::model);
    EXPECT_NE(e.find("\n  fix: "), std::string::npos) << e;
    return without_fix(e);
  };
  const auto has = [&](const std::string& text, const std::string& words) {
    EXPECT_NE(error(text).find(words), std::string::npos) << error(text);
  };
  has("", "list:1: it does not begin with");
  has("something else\n", "list:1: it does not begin with");
  has("attune shortlist 1: 6 source words, 200 target words\nalways:\n", "list:1: 6 source words, the model has 5");
  has("attune shortlist 1: 5 source words, 201 target words\nalways:\n", "list:1: 201 target words, the model has 200");
  has("attune shortlist 1: x source words, 201 target words\nalways:\n", "list:1: a number is missing");
  has("attune shortlist 1: 5 source words, 200 target words!\nalways:\n", "list:1: the line goes on");
  has(sizes, "list:1: it ends after the first line");
  has(sizes + "1: 4\n", "list:2: 'always' is missing");
  has(sizes + "always: 2\n1: 4", "list:2: the line has no end");
  has(sizes + "always: 2 2\n", "list:2: 2 is not from 3 to 199");
  has(sizes + "always: 200\n", "list:2: 200 is not from 0 to 199");
  has(sizes + "always: -1\n", "list:2: -1 is not from 0 to 199");
  has(sizes + "always: 99999999999999999999\n", "list:2: a number is missing");
  has(sizes + "always: 2\n1: 4\n1: 5\n", "list:4: 1 is not from 2 to 4");
  has(sizes + "always: 2\n5: 4\n", "list:3: 5 is not from 0 to 4");
  has(sizes + "always: 2\n1 4\n", "list:3: ':' is missing");
  has(sizes + "always: 2\n1: 4,5\n", "list:3: ' ' is missing");
  has(sizes + "always: 2\n1: 4 \n", "list:3: a number is missing");
}

}  // namespace
}  // namespace attune
