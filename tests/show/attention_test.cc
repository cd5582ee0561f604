#include "show/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "checks.h"
#include "text/width.h"

namespace attune {
namespace {

using Labels = std::vector<std::string>;

const AttentionPicture kSmall{
    {"der", "kleine", "Hund"}, {"the", "small", "dog"}, {0.90f, 0.06f, 0.04f, 0.25f, 0.50f, 0.25f, 0.0f, 0.0f, 1.0f}};

/// Row i looks at column i alone.
AttentionPicture diagonal(const Labels& rows, const Labels& columns) {
  AttentionPicture p{rows, columns, std::vector<float>(rows.size() * columns.size())};
  for (size_t i = 0; i < std::min(rows.size(), columns.size()); ++i) p.weights[i * columns.size() + i] = 1;
  return p;
}

Labels numbered(const std::string& stem, int count) {
  Labels all;
  for (int i = 1; i <= count; ++i) all.push_back(stem + std::to_string(i));
  return all;
}

TEST(ShowAttention, Shades) {
  EXPECT_EQ(draw_attention(kSmall),
            "       ┌ the\n"
            "       │ ┌ small\n"
            "       │ │ ┌ dog\n"
            "   der ██░░·\n"
            "kleine ▒▒▓▓▒▒\n"
            "  Hund · · ██\n"
            "\n"
            "       ░░ 5 %  ▒▒ 20 %  ▓▓ 40 %  ██ 70 % and more\n");
}

TEST(ShowAttention, Numbers) {
  EXPECT_EQ(draw_attention(kSmall, {.numbers = true}),
            "         ┌ the\n"
            "         │   ┌ small\n"
            "         │   │   ┌ dog\n"
            "   der   90   6   4\n"
            "kleine   25  50  25\n"
            "  Hund    ·   · 100\n");
}

TEST(ShowAttention, ColoursEndWithTheirLine) {
  const AttentionPicture p{{"a"}, {"x", "y"}, {1, 0}};
  EXPECT_EQ(draw_attention(p, {.colour = true, .legend = false}),
            "  x y\n"
            "a \x1b[38;5;16;48;5;226m  \x1b[38;5;255;48;5;234m  \x1b[0m\n");
  EXPECT_EQ(draw_attention(p, {.colour = true, .numbers = true}),
            "     x   y\n"
            "a \x1b[38;5;16;48;5;226m 100\x1b[38;5;255;48;5;234m   ·\x1b[0m\n");
  for (const std::string& line : split(draw_attention(kSmall, {.colour = true}), '\n'))
    EXPECT_TRUE(line.rfind("\x1b[") == std::string::npos || line.rfind("\x1b[") == line.rfind("\x1b[0m")) << line;
}

TEST(ShowAttention, WideCharactersStayInLine) {
  EXPECT_EQ(draw_attention(diagonal({"猫", "ist", "e\u0301te\u0301!"}, {"日本", "is", "été"}), {.legend = false}),
            "     ┌ 日本\n"
            "     │ ┌ is\n"
            "     │ │ ┌ été\n"
            "  猫 ██· ·\n"
            " ist · ██·\n"
            "e\u0301te\u0301! · · ██\n");
}

TEST(ShowAttention, NarrowTerminalsGetPanels) {
  EXPECT_EQ(draw_attention(diagonal({"a", "b", "c", "d", "e"}, {"vier", "alte", "Hunde", "sehen", "uns"}),
                           {.legend = false, .width = 10}),
            "  1 2 3\n"
            "a ██· ·\n"
            "b · ██·\n"
            "c · · ██\n"
            "d · · ·\n"
            "e · · ·\n"
            "  1 vier\n"
            "  2 alte\n"
            "  3 Hun…\n"
            "\n"
            "  4 5\n"
            "a · ·\n"
            "b · ·\n"
            "c · ·\n"
            "d ██·\n"
            "e · ██\n"
            "  4 seh…\n"
            "  5 uns\n");
}

TEST(ShowAttention, ManyColumnsAreNumbered) {
  const std::string drawn = draw_attention(diagonal({"a"}, numbered("w", 26)), {.legend = false, .width = 60});
  EXPECT_EQ(drawn,
            "                    1                   2\n"
            "  1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6\n"
            "a ██· · · · · · · · · · · · · · · · · · · · · · · · ·\n"
            "  1 w1  2 w2  3 w3  4 w4  5 w5  6 w6  7 w7  8 w8  9 w9\n"
            "  10 w10  11 w11  12 w12  13 w13  14 w14  15 w15  16 w16\n"
            "  17 w17  18 w18  19 w19  20 w20  21 w21  22 w22  23 w23\n"
            "  24 w24  25 w25  26 w26\n");
}

TEST(ShowAttention, LettersStandOverTheirColumns) {
  const AttentionPicture p = diagonal({"c", "b"}, {"ä", "b", "c", "d"});
  EXPECT_EQ(draw_attention(p, {.legend = false}),
            "  ä b c d\n"
            "c ██· · ·\n"
            "b · ██· ·\n");
  EXPECT_EQ(draw_attention(p, {.legend = false, .width = 7}),
            "  ä b\n"
            "c ██·\n"
            "b · ██\n"
            "\n"
            "  c d\n"
            "c · ·\n"
            "b · ·\n");
  EXPECT_EQ(draw_attention(diagonal({"a"}, {"猫", "の"}), {.numbers = true}),
            "    猫  の\n"
            "a  100   ·\n");
}

TEST(ShowAttention, NoLineIsWiderThanTheTerminal) {
  for (int columns : {1, 3, 24, 25, 130})
    for (int width : {16, 20, 40, 79, 80, 200})
      for (bool numbers : {false, true}) {
        const AttentionPicture p = diagonal(numbered("eine lange Zeile ", 3), numbered("日本語", columns));
        for (const std::string& line : split(draw_attention(p, {.numbers = numbers, .width = width}), '\n'))
          EXPECT_LE(text::display_width(line), width) << columns << " columns: " << line;
      }
}

TEST(ShowAttention, NothingIsDrawnOfNothing) {
  EXPECT_EQ(draw_attention({}), "");
  EXPECT_EQ(draw_attention({{"a"}, {}, {}}), "");
  EXPECT_EQ(draw_attention({{}, {"a"}, {}}), "");
  EXPECT_EQ(alignment({}), "");
  EXPECT_EQ(alignment({{"a"}, {}, {}}), "");
}

TEST(ShowAttention, LabelsCannotDisturbTheTerminal) {
  EXPECT_EQ(draw_attention({{"\x1b[2J"}, {"a\nb\t"}, {1}}, {.legend = false}),
            "     ┌ a␊b␉\n"
            "␛[2J ██\n");
  EXPECT_EQ(draw_attention({{""}, {""}, {1}}, {.legend = false}), "\n ██\n");
}

TEST(ShowAttention, OddWeightsAreShownAsTheyAre) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(draw_attention({{"a"}, {"x", "y", "z"}, {nan, -0.5f, 1.5f}}, {.legend = false}),
            "  x y z\n"
            "a ? · ██\n");
}

TEST(ShowAttention, OneHeadOfALargerMatrixCanBeDrawn) {
  const Labels rows{"a", "b"}, columns{"x", "y"};
  const std::vector<float> heads{9, 9, 1, 0, 9, 9, 0, 1};
  const Tensor all(heads.data(), {2, 4});
  const show::Attention second{rows, columns, all.columns(2, 2)};
  EXPECT_EQ(show::draw(second, {.legend = false}), "  x y\na ██·\nb · ██\n");
  EXPECT_EQ(show::pharaoh(second), "0-0 1-1");
}

TEST(ShowAttention, AlignmentNamesTheSourceFirst) {
  // "kaufte" (row 1) looks at "bought" (column 2), "er" (row 2) at "he" (column 1).
  const AttentionPicture p{{"Gestern", "kaufte", "er"},
                           {"yesterday", "he", "bought"},
                           {0.8f, 0.1f, 0.1f, 0.2f, 0.2f, 0.6f, 0.4f, 0.4f, 0.2f}};
  EXPECT_EQ(alignment(p), "0-0 2-1 0-2");  // of equals the first
  AttentionPicture broken = p;
  broken.weights[0] = std::nanf("");
  EXPECT_EQ(alignment(broken), "1-0 2-1 0-2");
}

TEST(ShowAttention, WeightsMustFitTheLabels) {
  EXPECT_EQ(error_of([] {
              draw_attention({{"a", "b"}, {"x", "y"}, {1, 0, 1}});
            }),
            "[draw_attention] 3 weights for 2 rows and 2 columns");
  EXPECT_EQ(error_of([] { alignment({{"a"}, {"x"}, {}}); }), "[alignment] 0 weights for 1 rows and 1 columns");
  const Labels rows{"a"}, columns{"x"};
  const std::vector<double> w{1};
  EXPECT_EQ(error_of([&] {
              show::draw({rows, columns, Tensor(w.data(), {1, 1})}, {});
            }),
            "[draw_attention] weights are f64, want f32");
}

}  // namespace
}  // namespace attune
