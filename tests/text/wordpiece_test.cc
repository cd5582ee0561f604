// WordPiece: how words are cut, and what is learned.
#include <gtest/gtest.h>

#include "text/corpus.h"

namespace attune::text {
namespace {

using test::random_lines;
using test::train_on;

Tokenizer made_of(std::vector<std::string> pieces) {
  return Tokenizer(Vocabulary(TokenizerKind::wordpiece, false, std::move(pieces)));
}

std::vector<std::string> cut(const Tokenizer& t, const std::string& line) {
  std::vector<std::string> pieces;
  for (const int32_t id : t.encode(line)) pieces.push_back(t.piece(id));
  return pieces;
}

using Pieces = std::vector<std::string>;

TEST(WordPiece, TheLongestPieceFromTheLeft) {
  const Tokenizer t = made_of({"un", "##aff", "##able", "##a", "##b", "##c", "a", "ab", "abc", "##d", "##cd"});
  EXPECT_EQ(cut(t, "unaffable"), (Pieces{"un", "##aff", "##able"}));  // BERT's own example
  EXPECT_EQ(cut(t, "abcd  acd"), (Pieces{"abc", "##d", "a", "##cd"}));
  EXPECT_EQ(t.decode(t.encode("unaffable  abcd")), "unaffable abcd");
}

TEST(WordPiece, UnknownIsTheRunOfLetters) {
  const Tokenizer t = made_of({"un", "##aff", "a", "##a", "##-", "##北", "##京", "北"});
  const auto spans = [&](const std::string& line) { return t.encode_with_spans(line).spans; };
  EXPECT_EQ(cut(t, "unaffable a"), (Pieces{"<unk>", "a"}));  // as BERT does: no piece for b, so the word is unknown
  EXPECT_EQ(spans("unaffable a"), (std::vector<Span>{{0, 9}, {10, 11}}));
  EXPECT_EQ(cut(t, "unx-a"), (Pieces{"<unk>", "##-", "##a"}));
  EXPECT_EQ(cut(t, "a-xa-a"), (Pieces{"a", "##-", "<unk>", "##-", "##a"}));
  EXPECT_EQ(cut(t, "北漢京"), (Pieces{"北", "<unk>", "##京"}));  // without spaces: only the character
  EXPECT_EQ(spans("北漢京"), (std::vector<Span>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(cut(t, "."), (Pieces{"<unk>"}));
  EXPECT_EQ(t.decode(t.encode("a . a")), "a \u2047 a");
  const Tokenizer across = made_of({"a-b", "##c"});  // pieces of others may hold anything
  EXPECT_EQ(across.encode_with_spans("a-bx").spans, (std::vector<Span>{{0, 3}, {3, 4}}));
}

TEST(WordPiece, JoinsWhatGainsMostLikelihood) {
  // Among 14 characters "ab" gains 4 log(4 * 14 / (4 * 4)) = 5.0, "cd" 2 log(2 * 14 / (2 * 2)) = 3.9, though the share
  // n(ab) / (n(a) n(b)) is larger for "cd".
  const auto learned = [](const std::vector<std::string>& lines, int64_t size) {
    const Tokenizer t = train_on(lines, {.kind = TokenizerKind::wordpiece, .size = size}).tokenizer;
    Pieces pieces;
    for (int32_t id = kMarks; id < t.size(); ++id) pieces.push_back(t.piece(id));
    return pieces;
  };
  const std::vector<std::string> lines{"ab ab ab ab cd cd x y"};
  EXPECT_EQ(learned(lines, 11), (Pieces{"##b", "a", "##d", "c", "x", "y", "ab"}));
  EXPECT_EQ(learned(lines, 12).back(), "cd");
  EXPECT_EQ(learned(lines, 100).size(), 8u);  // there is no more

  // The more frequent neighbours need not be the ones that belong together.
  std::string text = "xy xy xy xy xy xy";
  for (int i = 0; i < 10; ++i) text += " ac ad ae af ag ah ai aj ak";
  EXPECT_EQ(learned({text}, kMarks + 12 + 1).back(), "xy");  // 6 log(6 * 192 / 36) > 10 log(10 * 192 / (90 * 10))
}

TEST(WordPiece, PunctuationStandsAlone) {
  const Tokenizer t = train_on(std::vector<std::string>(20, "(ok) don't end. a,b 北京ok 100%"),
                               {.kind = TokenizerKind::wordpiece, .size = 200})
                          .tokenizer;
  EXPECT_EQ(cut(t, "(ok) don't end. a,b"),
            (Pieces{"(", "##ok", "##)", "don", "##'", "##t", "end", "##.", "a", "##,", "##b"}));
  EXPECT_EQ(cut(t, "北京ok 100%"), (Pieces{"北京", "##ok", "100", "##%"}));
}

TEST(WordPiece, SignsOfItsOwnAreText) {
  const std::vector<std::string> lines(10, "## ##ab ###ab # a## <s> </s>ab ##");
  const Tokenizer t = train_on(lines, {.kind = TokenizerKind::wordpiece, .size = 100}).tokenizer;
  const auto ids = t.encode(lines[0]);
  for (const int32_t id : ids) EXPECT_GE(id, kMarks);
  EXPECT_EQ(t.decode(ids), lines[0]);
}

TEST(WordPiece, RareCharactersMayBeLeftOut) {
  std::vector<std::string> lines(100, "abc abd");
  lines.push_back("aqb");
  const Tokenizer t =
      train_on(lines, {.kind = TokenizerKind::wordpiece, .size = 50, .character_coverage = 0.995}).tokenizer;
  EXPECT_EQ(t.id("##q"), kUnknown);
  EXPECT_EQ(cut(t, "aqb abc"), (Pieces{"<unk>", "abc"}));
}

/// A megabyte: what is quadratic does not come to its end.
TEST(WordPiece, LongWordsTakeNotMuchLonger) {
  const Tokenizer t = train_on(random_lines(500, 1), {.kind = TokenizerKind::wordpiece, .size = 600}).tokenizer;
  Random random(5);
  std::string word, unknown;
  while (word.size() < 1 << 20) word += "ba\u4E01";
  while (unknown.size() < 1 << 20) unknown += random.below(2) ? "\u0E01" : "q";
  EXPECT_EQ(t.decode(t.encode(word)), word);
  t.encode(unknown);
  t.encode(std::string(1 << 20, 'q'));
}

}  // namespace
}  // namespace attune::text
