#include "measure/words.h"

#include <gtest/gtest.h>

namespace attune::test {
namespace {

TEST(Words, AreCutAsMteval13aDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"Hello, world.", "Hello , world ."},
      {"1,000.5 and .5 5. a.b", "1,000.5 and . 5 5 . a . b"},
      {"5-6 x-y 10-", "5 - 6 x-y 10 -"},
      {"...", ". . ."},
      {"(a)[b]{c}", "( a ) [ b ] { c }"},
      {"don't 'quote'", "don't 'quote'"},
      {"&quot;x&quot; &amp;amp; &lt;i&gt;", "\" x \" & amp ; < i >"},
      {"a\u00a0b\u2028c\u200bd", "a b c\u200bd"},
      {"日本。é.", "日本。é ."},
      {"\xff.\xc2", "\xff . \xc2"},  // no UTF-8: nothing breaks
  };
  for (const auto& [line, words] : cases) EXPECT_EQ(tokenize(line, Tokenization::v13a), words) << line;
  EXPECT_EQ(tokenize("  a,b \t c. ", Tokenization::none), "a,b c.");
}

/// What sacreBLEU 2.6.0 makes of these lines.
TEST(Words, AreCutAsSacreBleuDoes) {
  const struct {
    Tokenization how;
    const char *line, *words;
  } cases[] = {
      {Tokenization::intl, "He said: \"no!\" (1,000.5)", "He said : \" no ! \" ( 1,000.5)"},
      {Tokenization::intl, "It was 1999. In 2000, x=y", "It was 1999 . In 2000 , x = y"},
      {Tokenization::intl, "ends in 1999.", "ends in 1999."},  // as mteval-v14 leaves it
      {Tokenization::intl, "10\u20ac \u201equote\u201c \u2026 \u00bd,5",
       "10 \u20ac \u201e quote \u201c \u2026 \u00bd,5"},
      {Tokenization::intl, "&amp; \u65e5\u672c\u3002\u4e2d", "& amp ; \u65e5\u672c \u3002 \u4e2d"},
      {Tokenization::character, "ab \u00e9\u65e5.\u3000c", "a b \u00e9 \u65e5 . c"},
      {Tokenization::zh, "\u4e2d\u6587abc\uff0c1.5 \u201cx\u201d. y",
       "\u4e2d \u6587 abc \uff0c 1.5 \u201c x \u201d . y"},
      {Tokenization::zh, " \u3000&amp; 5-6 ", "& amp ; 5 - 6"},
      {Tokenization::zh, "\U00020000\u2001x", "\U00020000 x"},
      {Tokenization::none, "  a,b \t c. ", "a,b c."},
  };
  for (const auto& c : cases) EXPECT_EQ(tokenize(c.line, c.how), c.words) << c.line;
}

TEST(Words, NothingBreaksThem) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string hostile[] = {"",
                                 " ",
                                 "\xff\xfe",
                                 "\xc2",
                                 std::string(3, '\0'),
                                 all,
                                 "\xed\xa0\x80\xf4\x90\x80\x80",
                                 std::string(100000, '.'),
                                 std::string(100000, ' ')};
  for (const std::string& line : hostile)
    for (size_t how = 0; how < kTokenizations.size(); ++how) {
      std::string letters, again;
      for (char c : tokenize(line, static_cast<Tokenization>(how)))
        if (c != ' ') letters += c;
      for (std::string_view word : split_words(line)) again += word;
      EXPECT_EQ(letters, again) << kTokenizations[how];  // nothing but blanks comes or goes
    }
}

TEST(Words, BlanksOfUnicode) {
  EXPECT_EQ(without_outer_blanks("\u3000\t a b \u00a0\u2028"), "a b");
  EXPECT_EQ(without_last_blanks(" a \u1680"), " a");
  EXPECT_EQ(split_words("a\u2003b\u200bc"), (std::vector<std::string_view>{"a", "b\u200bc"}));
}

}  // namespace
}  // namespace attune::test
