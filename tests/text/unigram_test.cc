// The unigram model against SentencePiece itself: the same pieces, scores and ids, the same texts.
#include <gtest/gtest.h>

#include "text/corpus.h"
#include "text/same_as_oracle.h"

namespace attune::text {
namespace {

using test::expect_same;
using test::normalized;
using test::Oracle;
using test::random_lines;
using test::train_on;

TEST(Unigram, PiecesScoresAndIdsAreSentencePieces) {
  const auto lines = random_lines(1500, 1);
  const TokenizerOptions all[] = {
      {.kind = TokenizerKind::unigram, .size = 600},
      {.kind = TokenizerKind::unigram, .size = 1200, .character_coverage = 0.98},
      {.kind = TokenizerKind::unigram, .size = 1200, .byte_fallback = true, .character_coverage = 0.98}};
  for (const TokenizerOptions& options : all) {
    const Oracle oracle(normalized(lines), options);
    ASSERT_EQ(oracle.trouble, "");
    const Tokenizer t = train_on(lines, options).tokenizer;
    ASSERT_EQ(t.size(), oracle.GetPieceSize());
    for (int id = 0; id < t.size(); ++id) ASSERT_EQ(t.piece(id), oracle.IdToPiece(id));
    for (int id = t.vocabulary().first(); id < t.size(); ++id) ASSERT_EQ(t.vocabulary().score(id), oracle.GetScore(id));
    expect_same(oracle, t, lines);
    expect_same(oracle, t, random_lines(2000, 2));  // other words, partly unknown characters
    std::string sentence;                           // long enough that roundings decide between equal sums
    for (const auto& l : random_lines(300, 3)) sentence += l + " ";
    expect_same(oracle, t, {"", "\u6F22\u5B57\u304B\u306A", "x\u6F22 \u6F22y", sentence, "<s> </s> <unk> <0x41>"});
  }
}

TEST(Unigram, TheMostLikelyWayIsChosen) {
  const Tokenizer t{Vocabulary({.kind = TokenizerKind::unigram,
                                .pieces = {"▁", "a", "b", "c", "▁ab", "bc", "▁abc"},
                                .scores = {-3, -3, -3, -3, -2, -2, -9}})};
  EXPECT_EQ(t.encode("abc"), (std::vector<int32_t>{t.id("▁ab"), t.id("c")}));  // -5; ▁abc -9; ▁ a bc -8
  EXPECT_EQ(t.encode("bc"), (std::vector<int32_t>{t.id("▁"), t.id("bc")}));
  const Encoded e = t.encode_with_spans("ab  xyc");
  EXPECT_EQ(e.ids, (std::vector<int32_t>{t.id("▁ab"), t.id("▁"), kUnknown, t.id("c")}));
  EXPECT_EQ(e.spans, (std::vector<Span>{{0, 2}, {4, 4}, {4, 6}, {6, 7}}));
  EXPECT_EQ(t.decode(e.ids), "ab  \u2047 c");
}

/// Of two ways of the same sum SentencePiece keeps the one it met first, whose last piece begins further left.
TEST(Unigram, OfEqualWaysTheLongerLastPieceIsChosen) {
  const Tokenizer t{Vocabulary({.kind = TokenizerKind::unigram,
                                .pieces = {"▁", "a", "b", "c", "ab", "bc", "abc"},
                                .scores = {-1, -2, -2, -2, -4, -4, -6}})};
  EXPECT_EQ(t.encode("ab"), (std::vector<int32_t>{t.id("▁"), t.id("ab")}));
  EXPECT_EQ(t.encode("abc"), (std::vector<int32_t>{t.id("▁"), t.id("abc")}));
  EXPECT_EQ(t.encode("bcab"), (std::vector<int32_t>{t.id("▁"), t.id("bc"), t.id("ab")}));
  EXPECT_EQ(t.encode("cab"), (std::vector<int32_t>{t.id("▁"), t.id("c"), t.id("ab")}));
}

/// A megabyte: what is quadratic does not come to its end.
TEST(Unigram, LongLinesTakeNotMuchLonger) {
  const Tokenizer t = train_on(random_lines(300, 1), {.kind = TokenizerKind::unigram, .size = 400}).tokenizer;
  Random random(5);
  std::string word;
  while (word.size() < 1 << 20) word += test::random_word(random);
  EXPECT_EQ(t.decode(t.encode(word)), normalize(word));
}

TEST(Unigram, TextCantForgeMarks) {
  const std::vector<std::string> lines(50, "<s> a <unk> b </s> <pad> <0x41>");
  for (const bool bytes : {false, true}) {
    const Tokenizer t =
        train_on(lines, {.kind = TokenizerKind::unigram, .size = 400, .byte_fallback = bytes}).tokenizer;
    for (const int32_t id : t.encode(lines[0])) EXPECT_GE(id, t.vocabulary().first());
    EXPECT_EQ(t.decode(t.encode(lines[0])), lines[0]);
  }
}

}  // namespace
}  // namespace attune::text
