#include "text/normalize.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>

#include "base/random.h"
#include "text/utf8.h"

namespace attune::text {
namespace {

TEST(Normalize, KnownSpellings) {
  const struct {
    std::string from, to;
  } cases[] = {
      {"", ""},
      {"  a \t b\r\n", "a b"},
      {"caf\u0065\u0301", "caf\u00E9"},
      {"\uFB01ne \uFF21\uFF22\uFF11", "fine AB1"},
      {"a\u00A0\u3000b\u2028c\u2581d\u200Be", "a b c d e"},
      {"\uFEFFx\u00ADy\u200Ez\x07", "xyz"},
      {"\u1112\u1161\u11AB", "\uD55C"},  // Hangul is put together
      {"\u2460\u00BD",
       "1"
       "1\u20442"},
      {"a\u0323\u0307", "\u1EA1\u0307"},
      {"a\u0307\u0323", "\u1EA1\u0307"},  // accents in one order
      {"x\xFFy", "x\uFFFDy"},
      {"\u0958", "\u0915\u093C"},  // never put together again, says Unicode
      {" \u00B4 ", "\u0301"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(normalize(c.from), c.to);
    EXPECT_EQ(normalize(c.to), c.to);
  }
  EXPECT_EQ(normalize("\u00C9t\u00C9 \uFF21 STRASSE \u0130", true), "\u00E9t\u00E9 a strasse i\u0307");
}

TEST(Normalize, SpansSayWhereBytesCameFrom) {
  std::vector<Span> spans;
  //           0 1    2     3   4 5       6
  EXPECT_EQ(normalize(" e\u0301 \t\uFB01\u00ADx", false, &spans), "\u00E9 fix");
  const std::vector<Span> wanted{{1, 3}, {1, 3}, {3, 5}, {5, 6}, {5, 6}, {7, 8}};
  EXPECT_EQ(spans, wanted);
}

std::string random_text(Random& random) {
  static const char32_t special[] = {' ',    '\t',    0xA0,   0x300,  0x301,  0x323,  0x327,  0xE9,
                                     0x1E9B, 0xFB03,  0x1112, 0x1161, 0x11A8, 0xAC00, 0x3099, 0x304B,
                                     0x2126, 0x2F868, 0xFDFA, 0x200B, 0xD55C, 0x345};
  std::string s;
  for (uint64_t n = random.below(24); n > 0; --n) {
    const uint64_t which = random.below(8);
    if (which < 4)
      append_utf8(s, special[random.below(std::size(special))]);
    else if (which < 6)
      append_utf8(s, static_cast<char32_t>('A' + random.below(60)));
    else if (which < 7)
      append_utf8(s, static_cast<char32_t>(0x80 + random.below(0x3000)));
    else
      append_utf8(s, static_cast<char32_t>(random.below(0x110000)));
  }
  return s;
}

/// What utf8proc makes of it; normalize differs only in white space and in what it leaves out.
std::string nfkc(const std::string& text) {
  utf8proc_uint8_t* made = nullptr;
  const auto n =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
  const std::string result = n < 0 ? "" : std::string(reinterpret_cast<char*>(made), static_cast<size_t>(n));
  std::free(made);
  return result;
}

TEST(Normalize, IsUnicodesNfkcAndStable) {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = random_text(random);
    std::vector<Span> spans;
    const std::string once = normalize(text, false, &spans);
    ASSERT_EQ(nfkc(once), once) << round;
    ASSERT_EQ(normalize(once), once) << round;
    // Replacing by NFKC beforehand makes no difference, unless something was dropped or became a space.
    if (text.find('\t') == std::string::npos && text.find("\u200B") == std::string::npos) {
      ASSERT_EQ(normalize(nfkc(text)), once) << round;
    }
    const std::string low = normalize(text, true);
    ASSERT_EQ(normalize(low, true), low) << round;
    ASSERT_EQ(spans.size(), once.size());
    const auto count = static_cast<int32_t>(character_starts(text).size() - 1);
    for (const Span& s : spans) ASSERT_TRUE(s.begin >= 0 && s.begin < s.end && s.end <= count);
  }
}

TEST(Normalize, AnyBytesWillDo) {
  Random random(3);
  for (int round = 0; round < 10000; ++round) {
    std::string bytes;
    for (uint64_t n = random.below(60); n > 0; --n) bytes += static_cast<char>(random.next());
    std::vector<Span> spans;
    const std::string text = normalize(bytes, round % 2 == 0, &spans);
    ASSERT_TRUE(is_utf8(text));
    ASSERT_EQ(text.find_first_of(std::string("\0\t\n\r\x7F", 5)), std::string::npos);
    const auto count = static_cast<int32_t>(character_starts(bytes).size() - 1);
    for (const Span& s : spans) ASSERT_TRUE(s.begin >= 0 && s.begin < s.end && s.end <= count);
  }
}

}  // namespace
}  // namespace attune::text
