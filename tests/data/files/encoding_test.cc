#include "data/files/encoding.h"

#include "data/files.h"
#include "data/files/line_reader.h"
#include "data/files/pairs.h"

namespace attune::test {
namespace {

using namespace std::string_literals;
using Strings = std::vector<std::string>;

Strings lines_of(const std::string& file, Encoding encoding) {
  LineReader reader(file, encoding);
  Strings lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

/// UTF-16 of Latin letters and what else is named.
std::string utf16(const std::u16string& text, bool big, bool mark) {
  std::string out;
  for (const char16_t c : (mark ? u"\ufeff" : u"") + text) {
    const auto high = static_cast<char>(c >> 8), low = static_cast<char>(c & 0xff);
    out += big ? high : low;
    out += big ? low : high;
  }
  return out;
}

TEST(Encodings, BecomeUtf8) {
  const TempFolder dir;
  const struct {
    Encoding encoding;
    std::string bytes;
    Strings lines;
  } cases[] = {
      {Encoding::iso_8859_1, "caf\xe9\n\xdf\r\n", {"café", "ß"}},
      {Encoding::iso_8859_1, "\xe9", {"é"}},
      {Encoding::iso_8859_1, "", {}},
      {Encoding::windows_1252, "\x80 5\n\x93hi\x94 \xfc", {"€ 5", "“hi” ü"}},
      {Encoding::utf_16, utf16(u"aé\nß€\r\n😀\n", false, true), {"aé", "ß€", "😀"}},
      {Encoding::utf_16, utf16(u"aé\nß€\r\n😀", true, true), {"aé", "ß€", "😀"}},
      {Encoding::utf_16, utf16(u"plain", false, false), {"plain"}},
      {Encoding::utf_16, utf16(u"plain", true, false), {"plain"}},
      {Encoding::utf_16, "", {}},
      {Encoding::utf_8, "\xef\xbb\xbfü", {"ü"}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(lines_of(put(dir / "a", c.bytes), c.encoding), c.lines);
    EXPECT_EQ(lines_of(put(dir / "a.gz", gzipped(c.bytes)), c.encoding), c.lines);
  }
}

TEST(Encodings, LongTextsInPieces) {
  const TempFolder dir;
  std::string bytes, wanted;
  std::u16string wide;
  for (int i = 0; i < 100000; ++i) {
    bytes += "\x80\xe9";
    wanted += "€é";
    wide += u"€é";
  }
  EXPECT_EQ(lines_of(put(dir / "a", bytes), Encoding::windows_1252), Strings{wanted});
  EXPECT_EQ(lines_of(put(dir / "b", utf16(wide, true, true)), Encoding::utf_16), Strings{wanted});
}

TEST(Encodings, Messages) {
  const TempFolder dir;
  const std::string file = dir / "a";
  const auto said = [&](const std::string& bytes, Encoding encoding) {
    put(file, bytes);
    return error_with_kind([&] { lines_of(file, encoding); });
  };
  EXPECT_EQ(said("one\ntwo\n\x81\n", Encoding::windows_1252),
            "data: " + file +
                ":3: byte 0x81 is no letter of windows-1252\n"
                "  fix: look how the file is encoded, and set data.encoding");
  EXPECT_EQ(said("\xef\xbb\xbfone\n", Encoding::iso_8859_1),
            "data: " + file + ":1: it begins with the mark of UTF-8\n  fix: set data.encoding = \"utf-8\"");
  EXPECT_EQ(said(utf16(u"one\ntwo", false, true) + "x", Encoding::utf_16),
            "data: " + file +
                ":2: the text ends within a letter of UTF-16\n"
                "  fix: look whether the file is whole, or set data.encoding");
  EXPECT_EQ(
      said(utf16(u"one\n\xdc00", false, true), Encoding::utf_16),
      "data: " + file + ":2: half a letter of UTF-16\n  fix: look how the file is encoded, and set data.encoding");
  EXPECT_EQ(said(utf16(u"one\n", false, true), Encoding::utf_8),
            "data: " + file +
                " is in UTF-16, not in UTF-8\n  fix: convert it by iconv -f utf-16 -t utf-8; in a recipe, set "
                "data.encoding = \"utf-16\"");
}

TEST(Encodings, OfPairsAndWhatIsNotUtf8IsTold) {
  const TempFolder dir;
  const std::string s = put(dir / "s", "\xe9\nb\n"), t = put(dir / "t", "x\ny\n");
  DataSettings o;
  PairReader as_it_is({s, t}, o, "data.train");
  TextPair p;
  while (as_it_is.next(p)) {}
  EXPECT_EQ(as_it_is.report().sentences(Overlong::skip),
            Strings{"1 line is not UTF-8: U+FFFD stands for what is broken (" + s + ":1)"});
  o.encoding = "latin-1";
  PairReader decoded({s, t}, o, "data.train");
  ASSERT_TRUE(decoded.next(p));
  EXPECT_EQ(p.source, "é");
  while (decoded.next(p)) {}
  EXPECT_TRUE(decoded.report().sentences(Overlong::skip).empty());
}

}  // namespace
}  // namespace attune::test
