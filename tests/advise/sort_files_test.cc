#include "advise/sort_files.h"

#include <gtest/gtest.h>

#include "advise/file_roles.h"
#include "base/text.h"
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

/// "train a b; valid c; test d" of texts of one side.
std::string sorted(const Names& files, const SaidRoles& said = {}) {
  const SortedFiles s = sort_texts(files, Task::language, said);
  std::string out;
  for (const auto& [name, list] : {std::pair{"train", s.train}, {"valid", s.valid}, {"test", s.test}})
    if (!list.empty()) out += (out.empty() ? "" : "; ") + (name + (" " + join(list, " ")));
  return out;
}

TEST(SortFiles, NamesOfManyKinds) {
  EXPECT_EQ(sorted({"esp.train", "esp.testa", "esp.testb"}), "train esp.train; valid esp.testa; test esp.testb");
  EXPECT_EQ(sorted({"a.train", "a.dev", "a.devtest"}), "train a.train; valid a.dev; test a.devtest");
  EXPECT_EQ(sorted({"train", "dev-test"}), "train train; valid dev-test") << "nothing else is for validation";
  EXPECT_EQ(sorted({"train", "eval", "test"}), "train train; valid eval; test test");
  EXPECT_EQ(sorted({"train", "valid1", "eval"}), "train train; valid valid1; test eval");
  EXPECT_EQ(sorted({"train", "held_out"}), "train train; valid held_out");
  EXPECT_EQ(sorted({"wnut17train.conll.gz", "newsdev2016.en", "SICK_trial.txt"}),
            "train wnut17train.conll.gz; valid newsdev2016.en SICK_trial.txt");
}

TEST(SortFiles, FoldersTellWhereTheyDiffer) {
  EXPECT_EQ(sorted({"d/train/x.txt", "d/dev/x.txt", "d/test/x.txt"}),
            "train d/train/x.txt; valid d/dev/x.txt; test d/test/x.txt");
  EXPECT_EQ(sorted({"test/a.txt", "test/b.txt"}), "train test/a.txt test/b.txt") << "that all lie there tells nothing";
  EXPECT_EQ(sorted({"dev/test.txt", "x/a.txt"}), "train x/a.txt; test dev/test.txt") << "its own name comes first";
}

TEST(SortFiles, WhatTellsNothing) {
  EXPECT_EQ(sorted({"book1.txt", "book2.txt"}), "train book1.txt book2.txt");
  EXPECT_EQ(sorted({"corpus.txt", "dev.txt"}), "train corpus.txt; valid dev.txt");
  EXPECT_EQ(sorted({"a.txt", "b.txt", "dev.txt", "test.txt"}), "train a.txt b.txt; valid dev.txt; test test.txt");
  EXPECT_EQ(error_with_kind([] {
              sorted({"train.txt", "more data.txt"});
            }),
            "usage: more data.txt: what is it for? Its name does not tell; the others: train.txt for training\n"
            "  fix: attune new language --train train.txt --valid 'more data.txt'");
  EXPECT_EQ(error_with_kind([] {
              sorted({"a.txt", "b.txt", "test.txt"});
            }),
            "usage: a.txt, b.txt: what are they for? Their names do not tell; the others: test.txt for test\n"
            "  fix: attune new language --train a.txt b.txt --test test.txt");
  EXPECT_EQ(error_with_kind([] {
              sort_files({"train.en", "train.de", "x.en", "x.de", "dev.en", "dev.de"});
            }),
            "usage: x.en, x.de: what are they for? Their names do not tell; the others: train.en for training, "
            "train.de for training, dev.en for validation, dev.de for validation\n"
            "  fix: attune new translate --train train.en train.de --valid dev.en dev.de --test x.en x.de");
  const SortedFiles rows = sort_texts({"images.gz", "labels.gz", "t10k-images.gz", "t10k-labels.gz"}, Task::image);
  EXPECT_EQ(rows.train, (Names{"images.gz", "labels.gz"}));
}

TEST(SortFiles, RolesThatAreSaid) {
  EXPECT_EQ(sorted({}, {{"test.txt"}, {"a"}, {"b"}}), "train test.txt; valid a; test b");
  EXPECT_EQ(sorted({"x.txt"}, {{}, {"a"}, {}}), "train x.txt; valid a");
  EXPECT_EQ(error_with_kind([] {
              sorted({}, {{}, {"a"}, {}});
            }),
            "usage: no file is for training\n  fix: name some by --train FILE...");
  const SortedFiles s = sort_files({}, {{"a.en", "a.de"}, {"b.en", "b.de"}, {}});
  EXPECT_EQ(s.valid, (Names{"b.en", "b.de"}));
  EXPECT_EQ(error_with_kind([] {
              sort_files({}, {{"a.en", "a.de"}, {"b.en"}, {}});
            }).substr(0, 38),
            "usage: 1 file: b.en has no other side\n");
}

TEST(SortFiles, EveryFileIsTold) {
  const SortedFiles s = sort_texts({"LICENSE.txt", "README.md", "esp.train", "esp.testa", "esp.testb"}, Task::tag);
  EXPECT_EQ(role_sentences(s.uses),
            (Names{"esp.train: training (its name says so)", "esp.testa: validation (its name says so)",
                   "esp.testb: test (its name says so)",
                   "LICENSE.txt, README.md: ignored (their names say it is about the data)"}));
  EXPECT_EQ(role_sentences(sort_files({"train.en", "train.de"}).uses),
            Names{"train.en, train.de: training (their names say so)"});
  EXPECT_EQ(role_sentences(sort_texts({"README.md"}, Task::language).uses),
            Names{"README.md: training (there is no other)"});
}

}  // namespace
}  // namespace attune::test
