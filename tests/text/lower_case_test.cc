#include "text/lower_case.h"

#include <gtest/gtest.h>

namespace attune::text {
namespace {

TEST(LowerCase, OfLines) {
  const std::pair<const char*, const char*> cases[] = {
      {"ABC xyz 123", "abc xyz 123"},
      {"ÄÖÜ ẞ ÇÉ", "äöü ß çé"},
      {"ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ", "οδυσσευς σας. σ"},
      {"ПРИВЕТ Ё", "привет ё"},
      {"İI", "i\u0307i"},
      {"\xff\xc3", "\xff\xc3"},
      {"日本", "日本"},
      {"\U00010400", "\U00010428"},
      {"ǅ Ⅷ Ⓐ Ａ", "ǆ ⅷ ⓐ ａ"},
  };
  for (const auto& [line, lower] : cases) EXPECT_EQ(lower_case(line), lower);
}

TEST(LowerCase, OfLetters) {
  EXPECT_EQ(lower(U'Q'), U'q');
  EXPECT_EQ(lower(U'q'), U'q');
  EXPECT_EQ(lower(U'['), U'[');
  EXPECT_EQ(lower(U'\u03A3'), U'\u03C3');
  EXPECT_EQ(lower(U'\u0130'), U'i');
}

}  // namespace
}  // namespace attune::text
