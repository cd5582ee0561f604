#include "advise/sort_files.h"

#include <gtest/gtest.h>

#include "data/files.h"

namespace attune::test {
namespace {

using Names = std::vector<std::string>;

TEST(SortFiles, NamesTellWhatFilesAreFor) {
  const SortedFiles s =
      sort_files({"d/test_2016.en.gz", "d/test_2016.de.gz", "a.en", "a.de", "dev2010.en", "dev2010.de", "latest.en",
                  "latest.de", "newstest2014-en.en", "newstest2014-en.de", "VAL.en", "VAL.de"});
  EXPECT_EQ(s.train, (Names{"a.en", "a.de", "latest.en", "latest.de"}));
  EXPECT_EQ(s.valid, (Names{"dev2010.en", "dev2010.de", "VAL.en", "VAL.de"}));
  EXPECT_EQ(s.test, (Names{"d/test_2016.en.gz", "d/test_2016.de.gz", "newstest2014-en.en", "newstest2014-en.de"}));
  EXPECT_EQ(s.format, DataFormat::lines);
}

TEST(SortFiles, TheFirstTrainsWhenNoNameSaysSo) {
  const SortedFiles s = sort_files({"test.en", "test.de", "val.en", "val.de"});
  EXPECT_EQ(s.train, (Names{"test.en", "test.de"}));
  EXPECT_EQ(s.valid, (Names{"val.en", "val.de"}));
  EXPECT_TRUE(s.test.empty());
}

TEST(SortFiles, TwoColumnsAreToldByNameOrContent) {
  const SortedFiles s = sort_files({"valid.tsv.gz", "train.tsv"});
  EXPECT_EQ(s.format, DataFormat::tsv);
  EXPECT_EQ(s.train, (Names{"train.tsv"}));
  EXPECT_EQ(s.valid, (Names{"valid.tsv.gz"}));
  const TempFolder dir;
  EXPECT_EQ(sort_files({put(dir / "pairs.txt", "a\tb\n\nc\td\n")}).format, DataFormat::tsv);
}

TEST(SortFiles, WhatDoesNotFitIsRefusedWithTheRightOrder) {
  const TempFolder dir;
  const std::string one = put(dir / "one.en", "a\nb\n");
  const std::string other = dir.path() + "/./one.en";
  const struct {
    Names files;
    std::string says;
  } cases[] = {
      {{}, "no files to learn from\n  fix: attune new translate train.en train.de"},
      {{one},
       one + " is one side, or a file without two columns\n  fix: name the other side too: attune new translate " +
           one + " OTHER"},
      {{"a.en", "a.de", "b.en"}, "3 files: b.en has no other side\n  fix: name the files as source, target, "},
      {{"a.en", "a.en"}, "a.en is named twice\n  fix: name each file once"},
      {{one, other}, other + " is named twice (" + one + " is the same file)\n"},
      {{"a.en", "-"}, "a recipe names files, and the standard input (-) has no name\n"},
      {{"train.en", "val.en", "train.de", "val.de"},
       "train.en and val.en stand together, but by their names they are for different things\n"
       "  fix: attune new translate train.en train.de val.en val.de"},
      {{"a.en", "b.en", "a.de", "b b.de"}, "no error"},  // no partner by name: the lengths will tell
      {{"a.en", "b.en", "a.de", "b.de"},
       "a.en and b.en stand together, but both are en\n  fix: attune new translate a.en a.de b.en b.de"},
      {{"a b.en", "c.en", "a b.de", "c.de"},
       "a b.en and c.en stand together, but both are en\n  fix: attune new translate 'a b.en' 'a b.de' c.en c.de"},
      {{"a.en", "a.de", "b.de", "b.en"},
       "b.de and b.en stand together, but the pair before has en first, then de\n"
       "  fix: attune new translate a.en a.de b.en b.de"},
  };
  for (const auto& c : cases) {
    const std::string text = error_with_kind([&] { sort_files(c.files); });
    if (c.says == "no error")
      EXPECT_EQ(text, "nothing was thrown");
    else
      EXPECT_TRUE(text.starts_with("usage: " + c.says)) << text;
  }
}

}  // namespace
}  // namespace attune::test
