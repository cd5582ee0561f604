// Subwords against SentencePiece itself: the same pieces, the same ids, the same texts.
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

TEST(Bpe, PiecesAndIdsAreSentencePieces) {
  const auto lines = random_lines(3000, 1);
  const TokenizerOptions all[] = {{.size = 600},
                                  {.size = 2000},
                                  {.size = 2000, .character_coverage = 0.98},
                                  {.size = 2000, .byte_fallback = true, .character_coverage = 0.98}};
  for (const TokenizerOptions& options : all) {
    const Oracle oracle(normalized(lines), options);
    ASSERT_EQ(oracle.trouble, "");
    const Tokenizer t = train_on(lines, options).tokenizer;
    ASSERT_EQ(t.size(), oracle.GetPieceSize());
    for (int id = 0; id < t.size(); ++id) ASSERT_EQ(t.piece(id), oracle.IdToPiece(id));
    expect_same(oracle, t, lines);
    expect_same(oracle, t, random_lines(3000, 2));  // other words, partly unknown characters
    expect_same(oracle, t,
                {"", "\u6F22\u5B57\u304B\u306A", "x\u6F22 \u6F22y", std::string(3000, 'b'), "<s> </s> <unk>"});
  }
}

/// A megabyte: what is quadratic does not come to its end.
TEST(Bpe, LongWordsTakeNotMuchLonger) {
  const Tokenizer t = train_on(random_lines(500, 1), {.size = 400}).tokenizer;
  Random random(5);
  std::string word;
  while (word.size() < 1 << 20) word += test::random_word(random);
  EXPECT_EQ(t.decode(t.encode(word)), normalize(word));
}

TEST(Bpe, TextCantForgeMarks) {
  std::vector<std::string> lines(50, "<s> a <unk> b </s> <pad>");
  const Tokenizer t = train_on(lines, {.size = 60}).tokenizer;
  for (const int32_t id : t.encode(lines[0])) EXPECT_GE(id, kMarks);
  EXPECT_EQ(t.decode(t.encode(lines[0])), lines[0]);
}

TEST(Bpe, UnknownCharactersInARowAreOneToken) {
  const Tokenizer t = train_on({"ab ab ba"}, {.size = 100}).tokenizer;
  const Encoded e = t.encode_with_spans("ab xyz");
  ASSERT_EQ(e.ids, (std::vector<int32_t>{t.id("▁ab"), t.id("▁"), kUnknown}));
  EXPECT_EQ(e.spans, (std::vector<Span>{{0, 2}, {3, 3}, {3, 6}}));
  EXPECT_EQ(t.decode(e.ids), "ab  \u2047 ");
}

}  // namespace
}  // namespace attune::text
