#include "inference/word_alignment.h"

#include <gtest/gtest.h>

#include "api/model_maker.h"
#include "text/piece_words.h"

namespace attune {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

TEST(WordAlignment, TakesTheLargestWeightOfEachPiece) {
  // pieces: two of word 0, one of word 1, the end mark; the target's second piece looks at the mark
  const std::vector<float> weights{0.1f, 0.7f, 0.1f, 0.1f,  //
                                   0.1f, 0.1f, 0.1f, 0.7f,  //
                                   0.2f, 0.2f, 0.5f, 0.1f,  //
                                   0.9f, 0.0f, 0.1f, 0.0f};
  EXPECT_EQ(align_words(weights, {0, 0, 1}, {0, 0, 1, 1}, 4), (Pairs{{0, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(align_words(weights, {0, 0, 1}, {0, 0, 1, -1}, 4), (Pairs{{0, 0}, {1, 1}}));
  EXPECT_EQ(align_words(weights, {0, -1, 1}, {0, 0, 1, 1}, 4), (Pairs{{0, 1}, {1, 1}}));
}

TEST(WordAlignment, MeanOfHeads) {
  EXPECT_EQ(of_head({1, 2, 3, 4, 5, 6, 7, 8}, 2, -1), (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(of_head({1, 2, 3, 4, 5, 6, 7, 8}, 2, 1), (std::vector<float>{5, 6, 7, 8}));
}

TEST(WordAlignment, PiecesKnowTheirWords) {
  const text::Tokenizer t = test::letters_and_words(60);
  const std::string line = "  the cat\tsees   a dog .";
  const auto source = text::words_of_pieces(t, line);
  const auto ids = t.encode(line);
  ASSERT_EQ(source.size(), ids.size());
  EXPECT_GT(ids.size(), 6u);  // some words are several pieces
  EXPECT_EQ(source.front(), 0);
  EXPECT_EQ(source.back(), 5);
  EXPECT_TRUE(std::is_sorted(source.begin(), source.end()));
  // decoded, the pieces are the same words
  EXPECT_EQ(words_of_target(t, ids), source);
  EXPECT_TRUE(words_of_target(t, {}).empty());
}

}  // namespace
}  // namespace attune
