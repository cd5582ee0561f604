#include "text/letters.h"

#include <gtest/gtest.h>

#include <string_view>

namespace attune::text {
namespace {

TEST(Letters, KindsOfCharacters) {
  for (const char32_t c : std::u32string_view(U"aZ9\u00E4\u0301\u03B1\u0436\u05D0\u0627\u0915\uAC00"))
    EXPECT_EQ(letter_kind(c), LetterKind::letter) << std::hex << static_cast<uint32_t>(c);
  for (const char32_t c :
       std::u32string_view(U"\u4E2D\u3042\u30A2\u30FC\u0E01\u0E31\u0E81\u1000\u1780\u0F40\u3005\U00020000"))
    EXPECT_EQ(letter_kind(c), LetterKind::spaceless) << std::hex << static_cast<uint32_t>(c);
  for (const char32_t c : std::u32string_view(U".,!?-_'\"()#<>$+\u3002\u3001\u300C\u00BF\u2026\u20AC\uFFFD\U0001F600"))
    EXPECT_EQ(letter_kind(c), LetterKind::mark) << std::hex << static_cast<uint32_t>(c);
}

}  // namespace
}  // namespace attune::text
