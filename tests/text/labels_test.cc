#include "text/labels.h"

#include <gtest/gtest.h>

#include "checks.h"
#include "data/files.h"

namespace attune::text {
namespace {

using attune::test::put;
using attune::test::slurp;

TEST(Labels, TheMostFrequentFirst) {
  const Labels l = Labels::of_counts({{"b", 3}, {"a", 3}, {"with blanks", 7}, {"rare", 1}});
  ASSERT_EQ(l.size(), 4);
  EXPECT_EQ(l.name(0), "with blanks");
  EXPECT_EQ(l.name(1), "a");
  EXPECT_EQ(l.name(2), "b");
  EXPECT_EQ(l.number("rare"), 3);
  EXPECT_EQ(l.number("RARE"), Labels::kUnseen);
  EXPECT_EQ(l.number(""), Labels::kUnseen);
}

TEST(Labels, AFileKeepsThem) {
  const attune::test::TempFolder folder;
  const Labels l({"é", "a b", "hash = 1"});
  l.save(folder / "t");
  const Labels again = Labels::load(folder / "t");
  EXPECT_EQ(again.hash(), l.hash());
  EXPECT_EQ(again.name(2), "hash = 1");
  EXPECT_NE(Labels({"a b", "é", "hash = 1"}).hash(), l.hash());
  Labels({}).save(folder / "none");
  EXPECT_EQ(Labels::load(folder / "none").size(), 0);
}

TEST(Labels, DamageIsNamed) {
  const attune::test::TempFolder folder;
  Labels({"a", "b"}).save(folder.path());
  const std::string file = folder / Labels::kFile, good = slurp(file);
  const auto error = [&](const std::string& text) {
    put(file, text);
    return error_of([&] { Labels::load(folder.path()); }, ErrorKind::model);
  };
  EXPECT_NE(error("").find(":1: this is no list of labels"), std::string::npos);
  EXPECT_NE(error("attune labels 1\nsize = 3\na\nb\nhash = 0\n").find(":2: 'size = 3', but 2 labels follow"),
            std::string::npos);
  std::string changed = good;
  changed[changed.find("\na\n") + 1] = 'c';
  EXPECT_NE(error(changed).find(":5: the labels have hash "), std::string::npos);
  EXPECT_EQ(error_of([] { Labels({"a", "a"}); }, ErrorKind::model), "label \"a\" comes twice");
  EXPECT_EQ(error_of([] { Labels({""}); }, ErrorKind::model), "label 1 is empty");
}

}  // namespace
}  // namespace attune::text
