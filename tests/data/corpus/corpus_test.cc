#include "data/corpus/corpus.h"

#include "data/corpus/number_corpus.h"

namespace attune::test {
namespace {

TEST(Corpus, HoldsWhatTheFilesSayForAnyNumberOfThreads) {
  const TempFolder dir;
  const int lines = 20000;  // more than a round
  const Strings files = write_corpus(dir, "a", lines);
  const LoadedCorpus one = read_corpus(files, "data.train", {}, kNumbers, nullptr);
  ASSERT_EQ(one.corpus.size(), lines);
  for (int i = 0; i < lines; ++i) {
    ASSERT_EQ(one.corpus.source.length(i), i % 9 + 1);
    ASSERT_EQ(one.corpus.target.length(i), i % 7 + 1);
    ASSERT_EQ(one.corpus.source[i].back(), i + i % 9);
    ASSERT_EQ(one.corpus.target[i].front(), -i);
  }
  EXPECT_EQ(one.corpus.source.longest, 9);
  EXPECT_EQ(one.report.kept, lines);
  for (int threads : {1, 2, 3, 4}) {
    ThreadPool pool(threads);
    const LoadedCorpus many = read_corpus(files, "data.train", {}, kNumbers, &pool);
    EXPECT_TRUE(many.corpus == one.corpus);
    EXPECT_EQ(many.content_hash, one.content_hash);
  }
}

TEST(Corpus, OverlongIsSkippedCroppedOrAnError) {
  const TempFolder dir;
  const std::string en = put(dir / "a.en", "1\n1 2 3 4\n5\n"), de = put(dir / "a.de", "1 2 3\n1\n5 6 7 8 9\n");
  DataSettings o;
  o.max_length = 3;
  LoadedCorpus c = read_corpus({en, de}, "data.train", o, kNumbers, nullptr);
  EXPECT_EQ(c.corpus.size(), 1);
  EXPECT_EQ(c.report.overlong.places, (Strings{en + ":2", de + ":3"}));
  EXPECT_EQ(c.report.kept, 1);
  o.overlong = Overlong::crop;
  c = read_corpus({en, de}, "data.train", o, kNumbers, nullptr);
  EXPECT_EQ(c.corpus.size(), 3);
  EXPECT_EQ(ids_of(c.corpus.source[1]), (Ids{1, 2, 3}));
  EXPECT_EQ(ids_of(c.corpus.target[2]), (Ids{-5, -6, -7}));
  EXPECT_EQ(c.report.overlong.count, 2);
  o.overlong = Overlong::error;
  EXPECT_EQ(error_with_kind([&] {
              read_corpus({en, de}, "data.train", o, kNumbers, nullptr);
            }),
            "data: " + en +
                ":2: 4 tokens, more than data.max_length = 3\n"
                "  fix: raise data.max_length, or set data.overlong to \"skip\" or \"crop\"");
}

TEST(Corpus, WhatEncodesToNothingIsEmpty) {
  const TempFolder dir;
  const std::string en = put(dir / "a.en", "1\n2\n"), de = put(dir / "a.de", "1\n2\n");
  const Encoders odd{numbers, [](std::string_view s) { return s == "1" ? Ids{} : Ids{7}; }};
  const LoadedCorpus c = read_corpus({en, de}, "data.train", {}, odd, nullptr);
  EXPECT_EQ(c.corpus.size(), 1);
  EXPECT_EQ(c.report.empty.places, Strings{de + ":1"});
}

TEST(Corpus, NothingLeftIsAnError) {
  const TempFolder dir;
  const std::string none = put(dir / "none", ""), blank = put(dir / "blank", " \n\n"), a = put(dir / "a", "1\n2\n");
  EXPECT_EQ(error_with_kind([&] {
              read_corpus({none, none}, "data.valid", {}, kNumbers, nullptr);
            }),
            "data: data.valid: no pair of lines is left of 0 read from " + none + ", " + none +
                "\n  fix: the files are empty: name others");
  EXPECT_EQ(error_with_kind([&] {
              read_corpus({a, blank}, "data.valid", {}, kNumbers, nullptr);
            }),
            "data: data.valid: no pair of lines is left of 2 read from " + a + ", " + blank +
                ": 2 pairs with an empty side skipped (" + blank + ":1, " + blank +
                ":2)\n  fix: name files that have text");
}

TEST(Corpus, AnEncoderThatThrowsIsHeard) {
  const TempFolder dir;
  ThreadPool pool(2);
  const Encoders bad{[](std::string_view) -> Ids { throw Error(ErrorKind::model, "no vocabulary"); }, numbers};
  EXPECT_EQ(error_with_kind([&] { read_corpus(write_corpus(dir, "a", 1000), "data.train", {}, bad, &pool); }),
            "model: no vocabulary");
}

}  // namespace
}  // namespace attune::test
