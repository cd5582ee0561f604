#include "text/utf8.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace attune::text {
namespace {

TEST(Utf8, EveryCharacterComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string s;
    append_utf8(s, c);
    const Character back = first_character(s);
    ASSERT_EQ(back.code, c);
    ASSERT_EQ(back.bytes, s.size());
    ASSERT_FALSE(back.broken);
  }
  std::string s;
  append_utf8(s, 0xD800);
  append_utf8(s, 0x110000);
  EXPECT_EQ(s, "\uFFFD\uFFFD");
}

TEST(Utf8, BrokenRunsBecomeOneReplacementEach) {
  const struct {
    std::string bytes, text;
  } cases[] = {
      {"a\x80z", "a\uFFFDz"},                            // a lone continuation
      {"\xC3", "\uFFFD"},                                // the end is missing
      {"\xE2\x82", "\uFFFD"},                            // so far a character: one run
      {"\xE2\x82z", "\uFFFDz"},                          // what follows is kept
      {"\xF0\x9F\x98\xE2\x82\xAC", "\uFFFD\u20AC"},      // also if it is a character
      {"\xC0\xAF", "\uFFFD\uFFFD"},                      // overlong
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},            // a surrogate
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // beyond the last
      {"\xFF\xFE", "\uFFFD\uFFFD"},
      {std::string("a\0b", 3), std::string("a\0b", 3)},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(repaired(c.bytes), c.text);
    EXPECT_EQ(is_utf8(c.bytes), c.bytes == c.text);
  }
}

TEST(Utf8, RandomBytesAreCoveredWithoutGaps) {
  Random random(1);
  for (int round = 0; round < 10000; ++round) {
    std::string bytes;
    for (uint64_t n = random.below(40); n > 0; --n) bytes += static_cast<char>(random.next());
    const std::vector<size_t> starts = character_starts(bytes);
    ASSERT_EQ(starts.front(), 0u);
    ASSERT_EQ(starts.back(), bytes.size());
    for (size_t i = 1; i < starts.size(); ++i) ASSERT_LT(starts[i - 1], starts[i]);
    const std::string once = repaired(bytes);
    ASSERT_TRUE(is_utf8(once));
    ASSERT_EQ(character_starts(once).size(), starts.size());
    ASSERT_EQ(repaired(once), once);
  }
}

}  // namespace
}  // namespace attune::text
