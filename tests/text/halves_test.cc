#include "text/halves.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "text/corpus.h"
#include "text/tokenizer.h"

namespace attune::text {
namespace {

using test::random_lines;
using test::train_on;

TEST(Halves, OfBpeAreTheLastMerge) {
  // The order of merges: "bc" before "ab", so "abc" is a + bc, though ab + c would spell it too.
  const Vocabulary v(TokenizerKind::bpe, false, {"bc", "ab", "abc", "abcbc", "\u2581", "a", "b", "c"});
  const std::vector<Halves> all = halves_of_pieces(v);
  const auto made_of = [&](const char* piece) {
    const Halves h = all[static_cast<size_t>(v.id(piece))];
    return h.any() ? v.piece(h.left) + "+" + v.piece(h.right) : "";
  };
  EXPECT_EQ(made_of("bc"), "b+c");
  EXPECT_EQ(made_of("abc"), "a+bc");
  EXPECT_EQ(made_of("abcbc"), "abc+bc");
  EXPECT_EQ(made_of("a"), "");
  EXPECT_EQ(made_of("\u2581"), "");
}

TEST(Halves, ThatNoMergesMakeAreNone) {
  // "bc" takes the b that "ab" needs: no merges ever make "abc" of "ab" and "c", nor is there "a" with "bc" to follow.
  const Vocabulary v(TokenizerKind::bpe, false, {"bc", "ab", "abcd", "\u2581", "a", "b", "c", "d"});
  EXPECT_FALSE(halves_of_pieces(v)[static_cast<size_t>(v.id("abcd"))].any());
}

TEST(Halves, OfUnigramAreTheMostProbable) {
  const Vocabulary v(VocabularyContents{TokenizerKind::unigram,
                                        false,
                                        false,
                                        {"\u2581", "a", "b", "c", "ab", "bc", "abc"},
                                        {-1, -2, -2, -2, -3, -1.5f, -4}});
  const Halves h = halves_of_pieces(v)[static_cast<size_t>(v.id("abc"))];
  EXPECT_EQ(h.left, v.id("a"));
  EXPECT_EQ(h.right, v.id("bc"));
}

TEST(Halves, OfWordPieceKeepWhatIsInside) {
  const Vocabulary v(TokenizerKind::wordpiece, false, {"a", "##b", "##c", "ab", "##bc", "abc", "#", "##ab", "##a"});
  const std::vector<Halves> all = halves_of_pieces(v);
  const Halves whole = all[static_cast<size_t>(v.id("abc"))], inside = all[static_cast<size_t>(v.id("##ab"))];
  EXPECT_EQ(whole.left, v.id("ab"));
  EXPECT_EQ(whole.right, v.id("##c"));
  EXPECT_EQ(inside.left, v.id("##a"));
  EXPECT_EQ(inside.right, v.id("##b"));
}

TEST(Halves, SpellWhatThePieceSpells) {
  const auto lines = random_lines(2000, 1);
  for (const TokenizerKind kind : {TokenizerKind::bpe, TokenizerKind::unigram, TokenizerKind::wordpiece}) {
    const Tokenizer t = train_on(lines, {.kind = kind, .size = 800}).tokenizer;
    const std::vector<Halves> all = halves_of_pieces(t.vocabulary());
    int64_t made = 0, long_ones = 0;
    for (int32_t id = t.vocabulary().first(); id < t.size(); ++id) {
      const Halves h = all[static_cast<size_t>(id)];
      const int32_t whole[] = {id}, parts[] = {h.left, h.right};
      if (h.any()) { EXPECT_EQ(t.decode(whole), t.decode(parts)) << t.piece(id); }
      made += h.any();
      long_ones += t.piece(id).size() > 5;
    }
    EXPECT_GT(long_ones, 100);
    // Merges always have two sides; the other kinds may lack what would be one.
    EXPECT_GE(made, kind == TokenizerKind::bpe ? long_ones : long_ones / 2) << static_cast<int>(kind);
  }
}

TEST(Halves, OfLettersBytesAndWordsAreNone) {
  for (const TokenizerKind kind : {TokenizerKind::byte, TokenizerKind::character, TokenizerKind::word})
    for (const Halves& h : halves_of_pieces(train_on({"ab ab ba"}, {.kind = kind, .size = 300}).tokenizer.vocabulary()))
      EXPECT_FALSE(h.any());
}

}  // namespace
}  // namespace attune::text
