#include "data/files/guess_encoding.h"

#include "data/files.h"
#include "data/files/code_pages.h"
#include "data/files/line_reader.h"
#include "text/utf8.h"

namespace attune::test {
namespace {

/// A text as an encoding with a byte for each letter has it.
std::string written(const std::string& text, Encoding encoding) {
  std::string out;
  for (const text::Character c : text::Characters(text))
    for (int byte = 0; byte < 256; ++byte)
      if (letter_of(encoding, static_cast<unsigned char>(byte)) == c.code) {
        out += static_cast<char>(byte);
        break;
      }
  return out;
}

const std::string kCzech = "Příliš žluťoučký kůň úpěl ďábelské ódy.\nDěti si hrají na dvoře a muž čte noviny.\n",
                  kPolish = "Zażółć gęślą jaźń.\nDziewczyna stoi na ulicy i śmieje się głośno.\n",
                  kHungarian = "Árvíztűrő tükörfúrógép.\nEgy kislány zöld füvön játszik.\n",
                  kRussian = "Съешь же ещё этих мягких французских булок.\nДевочка играет во дворе.\n",
                  kGerman = "Zwölf Boxkämpfer jagen Viktor quer über den großen Deich.\n",
                  kFrench = "Une fille à côté d'un garçon très élégant, près de la forêt.\n",
                  kGreek = "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.\n",
                  kTurkish = "Pijamalı hasta yağız şoföre çabucak güvendi.\n";

TEST(GuessEncoding, ByTheLanguageThatTheBytesMake) {
  const TempFolder dir;
  const struct {
    const std::string& text;
    Encoding encoding;
    std::string language;
  } cases[] = {
      {kCzech, Encoding::windows_1250, "Czech"},         {kCzech, Encoding::iso_8859_2, "Czech"},
      {kPolish, Encoding::windows_1250, "Polish"},       {kPolish, Encoding::iso_8859_2, "Polish"},
      {kHungarian, Encoding::windows_1250, "Hungarian"}, {kRussian, Encoding::windows_1251, "Russian"},
      {kRussian, Encoding::koi8_r, "Russian"},           {kGerman, Encoding::windows_1252, "German"},
      {kFrench, Encoding::windows_1252, "French"},       {kGreek, Encoding::windows_1253, "Greek"},
      {kTurkish, Encoding::windows_1254, "Turkish"},
  };
  for (const auto& c : cases) {
    const std::string text = "plain words first\n" + c.text + c.text + c.text;
    const std::string file = put(dir / "a.txt", written(text, c.encoding));
    const EncodingGuess guess = guess_encoding(file);
    EXPECT_EQ(guess.name, name_of(c.encoding)) << c.text;
    EXPECT_EQ(guess.language, c.language);
    LineReader reader(file, encoding_of(guess.name));
    std::string all;
    for (std::string_view line; reader.next(line);) all.append(line) += '\n';
    EXPECT_EQ(all, text);
  }
}

TEST(GuessEncoding, TheEndingOfTheNameHelps) {
  // One letter that Slovene and Czech share, and that is another in the west of Europe.
  std::string bytes;
  for (int i = 0; i < 10; ++i) bytes += written("šéf ", Encoding::windows_1250);
  EXPECT_EQ(guess_of_lines(bytes, "cs").language, "Czech");
  EXPECT_EQ(guess_of_lines(bytes, "sk").language, "Slovak");
}

TEST(GuessEncoding, WhatIsUtf8OrHasNoReader) {
  using namespace std::string_literals;
  const TempFolder dir;
  const auto guess = [&](const std::string& bytes) { return guess_encoding(put(dir / "a", bytes)); };
  EXPECT_TRUE(guess("only ASCII\n").plain);
  EXPECT_EQ(guess(kCzech).name, "utf-8");
  EXPECT_FALSE(guess(kCzech).plain);
  EXPECT_EQ(guess("\xef\xbb\xbf" + kCzech).name, "utf-8");
  EXPECT_EQ(guess(kCzech + kCzech + "one bad \xff line\n").name, "utf-8");
  EXPECT_EQ(guess("\xff\xfe" + "a\0b\0"s).name, "utf-16");
  EXPECT_EQ(guess("\0p\0l\0a\0i\0n\0 \0t\0e\0x\0t"s).name, "utf-16");
  const EncodingGuess japanese =  // こんにちは、せかい
      guess("\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\x81\x41\x82\xb9\x82\xa9\x82\xa2\n");
  EXPECT_EQ(japanese.name, "shift_jis");
  EXPECT_FALSE(japanese.known);
  EXPECT_EQ(japanese.conversion("a.txt"), "iconv -f shift_jis -t utf-8 a.txt > a.txt.utf-8");
  EXPECT_EQ(guess("\xa4\xb3\xa4\xf3\xa4\xcb\xa4\xc1\xa4\xcf\xa1\xa2\xa4\xbb\xa4\xab\xa4\xa4\n").name, "euc-jp");
  EXPECT_EQ(guess("\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\xa1\xa3\xce\xd2\xc3\xc7\xd1\xa7\xcf\xb0\n").name,
            "gb18030");
  EXPECT_TRUE(guess("\x81\0\xff\xfe\0\0\n"s).binary);
  EXPECT_EQ(guess("\x81\x8d\x8f\x90\x9d \xff\n").name, "") << "nothing fits";
}

}  // namespace
}  // namespace attune::test
