// Pictures of patterns against the definitions of the mechanisms.
#include "inference/pattern_picture.h"

#include <gtest/gtest.h>

#include "attune/error.h"
#include "checks.h"
#include "model/attention/mechanism.h"
#include "show/pattern.h"

namespace attune {
namespace {

TEST(PatternPicture, IsWhoSeesWhom) {
  const PatternPicture p = picture_pattern("band(width=5)", false, 20);
  EXPECT_EQ(p.mechanism, "band(width=5)");
  for (int64_t i = 0; i < 20; ++i)
    for (int64_t j = 0; j < 20; ++j)
      EXPECT_EQ(p.sees[static_cast<size_t>(i * 20 + j)], std::abs(i - j) <= 2) << i << " " << j;
  EXPECT_DOUBLE_EQ(p.density, (20 * 5 - 6) / 400.0);
  const PatternPicture causal = picture_pattern("sparse-fixed(block=4;summary=1)", true, 12);
  for (int64_t i = 0; i < 12; ++i)
    for (int64_t j = 0; j < 12; ++j)
      EXPECT_EQ(causal.sees[static_cast<size_t>(i * 12 + j)], j <= i && (i / 4 == j / 4 || j % 4 == 3));
  EXPECT_DOUBLE_EQ(causal.density, (3 * 10 + 4 + 8) / 78.0);
}

/// Whatever can be looked at can be drawn, and a decoder never sees ahead.
TEST(PatternPicture, OfEveryMechanism) {
  int64_t drawn = 0;
  for (const AttentionKind& k : attention_kinds())
    for (const bool causal : {false, true}) {
      if (causal && !k.causal) continue;
      try {
        const PatternPicture p = picture_pattern(k.name, causal);
        ++drawn;
        EXPECT_GT(p.density, 0) << k.name;
        EXPECT_LE(p.density, 1) << k.name;
        for (int64_t i = 0; causal && i < 64; ++i)
          for (int64_t j = i + 1; j < 64; ++j) ASSERT_FALSE(p.sees[static_cast<size_t>(i * 64 + j)]) << k.name;
      } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("has no pattern to draw"), std::string::npos) << k.name << e.what();
      }
    }
  EXPECT_GT(drawn, 20);
}

TEST(PatternPicture, AsText) {
  EXPECT_EQ(draw_pattern(picture_pattern("band(width=1)", false, 4)), "▀▄··\n··▀▄\n");
  EXPECT_EQ(draw_pattern(picture_pattern("softmax", true, 3)), "█▄·\n▀▀▀\n") << "an odd number of rows";
}

TEST(PatternPicture, LongOnesAreDrawnInSquares) {
  const PatternPicture p = picture_pattern("band(width=100)", true, 200);
  const show::PatternSquares s = show::squares_of(p, 50);
  EXPECT_EQ(s.side, 50);
  EXPECT_EQ(s.share[0], 10.0f / 16) << "four queries and four keys, those ahead hidden";
  EXPECT_EQ(s.share[10 * 50 + 5], 1.0f);
  EXPECT_EQ(s.share[40 * 50 + 5], 0.0f);
  EXPECT_NE(show::draw_pattern_svg(p).find("</svg>"), std::string::npos);
  EXPECT_EQ(show::pattern_png(p).substr(1, 3), "PNG");
}

TEST(PatternPicture, MistakesAreTold) {
  const auto said = [](const char* what, int64_t length = 8) {
    return error_of([&] { picture_pattern(what, false, length); });
  };
  EXPECT_NE(said("bigbrid").find("Did you mean 'bigbird'?"), std::string::npos);
  EXPECT_NE(said("band(").find("there is no mechanism 'band('"), std::string::npos);
  EXPECT_NE(said("band(width=0)").find("width"), std::string::npos);
  EXPECT_NE(said("band", 1 << 20).find("1 to 4096"), std::string::npos);
}

}  // namespace
}  // namespace attune
