#include "text/width.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "text/utf8.h"

namespace attune::text {
namespace {

TEST(Width, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("größer"), 6);
  EXPECT_EQ(display_width("e\u0301te\u0301"), 3);  // accents of their own
  EXPECT_EQ(display_width("日本語"), 6);
  EXPECT_EQ(display_width("😀"), 2);
  EXPECT_EQ(display_width("▁dog"), 4);
}

TEST(Width, WhatDisturbsATerminalIsReplaced) {
  EXPECT_EQ(harmless("plain größer 日本"), "plain größer 日本");
  EXPECT_EQ(harmless("\x1b[31mred\t\n\x7F"), "␛[31mred␉␊␡");
  EXPECT_EQ(harmless(std::string_view("a\0b", 3)), "a␀b");
  EXPECT_EQ(harmless("\u009B31m"), "\uFFFD31m");          // the one-character form of ESC [
  EXPECT_EQ(harmless("a\u202Eb\u2066c\u200Fd"), "abcd");  // these turn the direction of a line
  EXPECT_EQ(harmless("a\u2028b"), "a b");                 // a line end in disguise
  EXPECT_EQ(harmless("\u0301a"), "\u25CC\u0301a");        // would sit on whatever stands before the label
  EXPECT_EQ(harmless("\xFF\xE2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(harmless("\uE000"), "\uFFFD");  // every font has its own idea of it
}

TEST(Width, HarmlessTextHasNoControlsWhateverComesIn) {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (uint64_t n = random.below(30); n > 0; --n)
      append_utf8(bytes, static_cast<char32_t>(random.below(random.below(2) ? 0x300 : 0x3000)));
    bytes += static_cast<char>(random.next());
    const std::string safe = harmless(bytes);
    ASSERT_TRUE(is_utf8(safe));
    for (Character c : Characters(safe)) ASSERT_FALSE(c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0));
    ASSERT_EQ(harmless(safe), safe);
  }
}

TEST(Width, ShortenedTextFits) {
  EXPECT_EQ(shortened("Apfel", 5), "Apfel");
  EXPECT_EQ(shortened("Apfel", 4), "Apf…");
  EXPECT_EQ(shortened("日本語", 5), "日本…");
  EXPECT_EQ(shortened("日本語", 4), "日…");  // half a character is none
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(shortened("abc", 0), "");
}

}  // namespace
}  // namespace attune::text
