#include "inference/line_pieces.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "decode/search.h"
#include "text/trainer.h"

namespace attune::test {
namespace {

using Views = std::vector<std::string_view>;

/// A token is a word, unless it is said otherwise.
text::Tokenizer words_alone(const std::string& line, text::TokenizerKind kind = text::TokenizerKind::word) {
  text::TokenizerOptions options;
  options.kind = kind;
  bool done = false;
  return text::train_tokenizer(
             [&](std::string& out) {
               out = line;
               return !std::exchange(done, true);
             },
             options)
      .tokenizer;
}

TEST(LinePieces, SentencesThenRunsOfWordsOfTheSameLength) {
  const std::string line = "a b c . D e f g h i j . K";
  const text::Tokenizer t = words_alone(line);
  EXPECT_EQ(pieces_of_line(t, line, 100), Views{line});
  EXPECT_EQ(pieces_of_line(t, line, 8), (Views{"a b c .", "D e f g h i j .", "K"}));
  EXPECT_EQ(pieces_of_line(t, line, 5), (Views{"a b c .", "D e f g", "h i j .", "K"})) << "not 5 and 3";
  for (const std::string_view p : pieces_of_line(t, line, 1)) EXPECT_EQ(t.encode(p).size(), 1u) << p;
  EXPECT_EQ(pieces_of_line(t, line, 1).size(), 13u);
}

TEST(LinePieces, AWordThatIsTooLongIsCutToo) {
  const text::Tokenizer t = words_alone("a b", text::TokenizerKind::byte);
  const std::string word(100, 'x'), letters = "äöüäöüäöüä";
  std::string joined;
  for (const std::string_view p : pieces_of_line(t, word, 30)) {
    EXPECT_LE(t.encode(p).size(), 30u);
    joined += p;
  }
  EXPECT_EQ(joined, word);
  for (const std::string_view p : pieces_of_line(t, letters, 5)) EXPECT_EQ(p.size() % 2, 0u) << "whole letters";
  const std::string_view big = "ä";
  EXPECT_EQ(pieces_of_line(t, big, 1), Views{big}) << "there is nothing smaller than a letter";
}

TEST(LinePieces, WhatIsSaidIsPutTogether) {
  const std::string line = "A b. C d e.";
  const Views pieces{std::string_view(line).substr(0, 4), std::string_view(line).substr(5)};
  Translation one, two, second;
  one.text = "X y.";
  one.tokens = {"X", "y."};
  one.token_scores = {-1, -2, -0.5};
  one.alignment = {{0, 0}, {1, 1}};
  two.text = "Z.";
  two.tokens = {"Z."};
  two.token_scores = {-3, -0.5};
  two.alignment = {{2, 0}};
  two.cut_off = true;
  second = two;
  second.text = "W.";
  second.token_scores = {-4, -0.5};
  two.others = {second};
  const std::vector<Translation> said{one, two};
  const Translation t = joined_translation(line, pieces, said, 0.6);
  EXPECT_EQ(t.text, "X y. Z.");
  EXPECT_EQ(t.cut, 2);
  EXPECT_TRUE(t.cut_off);
  EXPECT_EQ(t.tokens.size(), 3u);
  EXPECT_EQ(t.token_scores.size(), 5u);
  EXPECT_NEAR(t.score, -7 / length_penalty(5, 0.6), 1e-12);
  EXPECT_EQ(t.alignment, (WordPairs{{0, 0}, {1, 1}, {4, 2}}));
  ASSERT_EQ(t.others.size(), 1u);
  EXPECT_EQ(t.others[0].text, "X y. W.");
  EXPECT_LT(t.others[0].score, t.score);
}

TEST(LinePieces, WordsCountOnWhereAWordWasCut) {
  const std::string line = "abcd ef";
  const std::string_view all = line;
  Translation a, b, c;
  a.text = "日本";
  b.text = "語";
  c.text = "Ef";
  for (Translation* t : {&a, &b, &c}) t->alignment = {{0, 0}};
  const std::vector<Translation> said{a, b, c};
  const Translation t = joined_translation(line, Views{all.substr(0, 2), all.substr(2, 2), all.substr(5)}, said, 0);
  EXPECT_EQ(t.text, "日本語Ef") << "no blank beside Chinese and Japanese";
  EXPECT_EQ(t.alignment, (WordPairs{{0, 0}, {0, 0}, {1, 0}}));
}

}  // namespace
}  // namespace attune::test
