// Word alignments of a corpus: from words to tokens, through everything that becomes of pairs, and what is wrong with
// files of them.
#include "data/files/alignment.h"

#include "data/batches.h"
#include "data/corpus/number_corpus.h"
#include "data/corpus/training_data.h"
#include "data/shards.h"
#include "text/vocabulary.h"

namespace attune::test {
namespace {

using Links = std::vector<Ids>;  // of each target token

Links links_of(const Alignment& a) {
  Links all;
  for (int64_t i = 0; i < a.tokens(); ++i) all.push_back(ids_of(a[i]));
  return all;
}

std::vector<int> one_each(std::string_view text) {
  std::vector<int> words(numbers(text).size());
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<int>(i);
  return words;
}

/// A token is a word.
Encoders aligned_numbers() {
  Encoders e = kNumbers;
  e.source_words = e.target_words = one_each;
  return e;
}

TEST(Alignment, EveryTokenOfAWordGoesWithEveryTokenOfItsWords) {
  Alignment a;
  // source: two tokens of word 0, one of 1, a space, one of 2; target: one of 0, a space, two of 1, one of 2
  const std::vector<text::Link> links{{2, 1}, {0, 1}, {1, 0}, {1, 0}};
  add_pair(links, std::vector<int>{0, 0, 1, -1, 2}, std::vector<int>{0, -1, 1, 1, 2}, a);
  EXPECT_EQ(links_of(a), (Links{{2}, {}, {0, 1, 4}, {0, 1, 4}, {}}));
  a.erase({false, true, true, false, false});
  EXPECT_EQ(links_of(a), (Links{{2}, {0, 1, 4}, {}}));
}

struct AlignmentFiles : testing::Test {
  TempFolder dir;
  std::string en = put(dir / "a.en", "1 2 3\n\n4 5\n6 7 8 9\n"), de = put(dir / "a.de", "1 2\nx\n4 5\n9 8\n");
  DataSettings options;

  Alignment read(const std::string& text, const Encoders& encoders = aligned_numbers()) {
    options.alignment = {put(dir / "a.align", text)};
    return read_corpus({en, de}, "data.train", options, encoders, nullptr).corpus.alignment;
  }
  std::string fault(const std::string& text) {
    std::string message = error_with_kind([&] { read(text); });
    const size_t at = message.find(dir.path());
    return at == std::string::npos ? message : message.replace(at, dir.path().size() + 1, "");
  }
};

TEST_F(AlignmentFiles, StayWithTheirPairs) {
  EXPECT_EQ(links_of(read("0-0 2-1\n\n1-0 0p1\n3-0\n")), (Links{{0}, {2}, {1}, {0}, {3}, {}}))
      << "the line of an empty pair is passed over";
  options.max_length = 3;
  EXPECT_EQ(links_of(read("0-0 2-1\n\n1-0 0-1\n3-0\n")), (Links{{0}, {2}, {1}, {0}})) << "a long pair is skipped";
  options.overlong = Overlong::crop;
  EXPECT_EQ(links_of(read("0-0 2-1\n\n1-0 0-1\n3-0 2-0\n")), (Links{{0}, {2}, {1}, {0}, {2}, {}}))
      << "what is cropped is linked to nothing";
}

TEST_F(AlignmentFiles, BelongToTheTrainingFilesAlone) {
  options.alignment = {dir / "nowhere"};
  EXPECT_TRUE(read_corpus({en, de}, "data.valid", options, aligned_numbers(), nullptr).corpus.alignment.empty());
}

TEST_F(AlignmentFiles, AreNamedInTheHash) {
  const auto hash = [&](const std::string& text) {
    options.alignment = {put(dir / "a.align", text)};
    return read_corpus({en, de}, "data.train", options, aligned_numbers(), nullptr).content_hash;
  };
  EXPECT_EQ(hash("0-0\n\n\n\n"), hash("0-0\n\n\n\n"));
  EXPECT_NE(hash("0-0\n\n\n\n"), hash("0-1\n\n\n\n"));
}

TEST_F(AlignmentFiles, Mistakes) {
  EXPECT_EQ(fault("0-0\n\n0-0\n"),
            "data: a.align has 3 lines, the training files have more\n  fix: a line must stand for a line");
  EXPECT_EQ(fault("0-0\n\n0-0\n\n\n"),
            "data: a.align has 5 lines, its training files have 4\n  fix: a line must stand for a line");
  EXPECT_EQ(fault("0-0\n\n0-0 3-0\n\n"),
            "data: a.align:3: the link 3-0 is out of range: the source has 2 words\n"
            "  fix: count words from 0, as they stand between spaces, the source word first");
  EXPECT_EQ(fault("0-2\n\n\n\n"),
            "data: a.align:1: the link 0-2 is out of range: the target has 2 words\n"
            "  fix: count words from 0, as they stand between spaces, the source word first");
  for (const char* bad : {"0", "0-", "-1-0", "0-1-2", "a-b", "0:1", "1.0-2", "99999999999-0", "0--1"})
    EXPECT_EQ(fault(std::string("0-0 ") + bad + "\n\n\n\n"),
              std::string("data: a.align:1: '") + bad +
                  "' is no link of two words\n  fix: write pairs of numbers, the source word first: 0-0 1-2");
  options.alignment = {dir / "a.align", dir / "a.align"};
  EXPECT_EQ(
      error_with_kind([&] {
        read_corpus({en, de}, "data.train", options, aligned_numbers(), nullptr);
      }),
      "recipe: data.alignment has 2 files for 1 pair of training files\n  fix: name one for each, in their order");
  options.truncate = true;
  EXPECT_EQ(fault("0-0\n\n0-0\n\n\n"), "nothing was thrown") << "surplus lines may be there";
}

TEST_F(AlignmentFiles, OfSeveralPairsOfFiles) {
  const std::string more = put(dir / "b.en", "1\n\n"), other = put(dir / "b.de", "1\n2\n");
  const std::string first = put(dir / "a.align", "0-0\n\n\n0-1\n"), second = put(dir / "b.align", "0-0\n\n");
  options.alignment = {first, second};
  const auto read_both = [&] {
    return links_of(
        read_corpus({en, de, more, other}, "data.train", options, aligned_numbers(), nullptr).corpus.alignment);
  };
  EXPECT_EQ(read_both(), (Links{{0}, {}, {}, {}, {}, {0}, {0}}));
  put(second, "0-0\n");
  EXPECT_NE(error_with_kind(read_both).find("b.align has 1 line, its training files have 2"), std::string::npos);
  put(second, "0-0\n\n");
  put(first, "0-0\n\n\n0-1\n\n");
  EXPECT_NE(error_with_kind(read_both).find("a.align has 5 lines, its training files have 4"), std::string::npos);
}

TEST_F(AlignmentFiles, OfFilesWithoutAnyPairThatIsKept) {
  const std::string none = put(dir / "n.en", "\n\n"), other = put(dir / "n.de", "1\n2\n");
  const std::string first = put(dir / "a.align", "0-0\n\n\n0-1\n"), second = put(dir / "n.align", "\n\n");
  const Links one{{0}, {}, {}, {}, {}, {0}};
  const auto read_files = [&](const std::vector<std::string>& files, const std::vector<std::string>& alignments) {
    options.alignment = alignments;
    return links_of(read_corpus(files, "data.train", options, aligned_numbers(), nullptr).corpus.alignment);
  };
  Links twice = one;
  twice.insert(twice.end(), one.begin(), one.end());
  EXPECT_EQ(read_files({none, other, en, de}, {second, first}), one);
  EXPECT_EQ(read_files({en, de, none, other}, {first, second}), one);
  EXPECT_EQ(read_files({en, de, none, other, en, de}, {first, second, first}), twice);
  put(second, "\n\n\n");
  EXPECT_NE(error_with_kind([&] {
              read_files({en, de, none, other}, {first, second});
            }).find("n.align has 3 lines, its training files have 2"),
            std::string::npos);
}

TEST(AlignedBatches, RowsKnowTheirSources) {
  const TempFolder dir;
  const int lines = 400;
  DataSettings options;
  options.train = write_corpus(dir, "a", lines);
  std::string text;
  for (int i = 0; i < lines; ++i) {  // target word j goes with the source word of the same number, if there is one
    for (int j = 0; j <= std::min(i % 9, i % 7); ++j) text += fmt::format("{}-{} ", j, j);
    text += "\n";
  }
  options.alignment = {put(dir / "a.align", text)};
  const TrainingData data = read_training_data(options, aligned_numbers(), 1, nullptr);
  ASSERT_TRUE(data.held_out);
  ASSERT_EQ(data.train.alignment.tokens(), data.train.target.tokens()) << "what is held out is gone";
  Batches batches(data.train, {.tokens = 700});
  Batch batch;
  for (int n = 0; n < 5; ++n) {
    batches.next(batch);
    ASSERT_EQ(std::ssize(batch.target().right.edges.start), batch.target_tokens() + 1);
    Shards shards;
    cut(batch, 4, shards);
    int64_t links = 0;
    for (const Batch& s : shards)
      for (int64_t i = 0; i < s.target().right.segments.count(); ++i)
        for (int64_t r = 0; r < s.target().right.segments.length(i); ++r) {
          const auto row = static_cast<size_t>(s.target().right.segments.begin(i) + r);
          const int32_t from = s.target().right.edges.start[row], to = s.target().right.edges.start[row + 1];
          const bool linked = s.target().right.ids[row] != text::kEnd && r + 1 < s.source.segments.length(i);
          ASSERT_EQ(to - from, linked ? 1 : 0);
          if (!linked) continue;
          // target words are minus the source's
          const auto source =
              static_cast<size_t>(s.source.segments.begin(i) + s.target().right.edges.to[static_cast<size_t>(from)]);
          ASSERT_EQ(s.source.ids[source], -s.target().right.ids[row]);
          ++links;
        }
    EXPECT_EQ(links, std::ssize(batch.target().right.edges.to));
  }
}

}  // namespace
}  // namespace attune::test
