// What a damaged vocabulary file is answered with.
#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <cctype>

#include "base/error.h"

namespace attune::text {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string message(const std::string& text) {
  try {
    Vocabulary::parse(text, "v.txt");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::model);
    const std::string what = e.what(), fix = "\n  fix: copy the file again, or train the tokenizer again";
    EXPECT_TRUE(what.ends_with(fix)) << what;
    return what.substr(0, what.size() - fix.size());
  }
  return "nothing was thrown";
}

TEST(Vocabulary, TheFileIsReadable) {
  const Vocabulary v(TokenizerKind::bpe, false, {"ab", "▁", "a", "b"});
  EXPECT_EQ(v.to_text(),
            "attune vocabulary 1\nkind = bpe\nlowercase = false\nsize = 8\n<pad>\n<s>\n</s>\n<unk>\nab\n▁\na\nb\n"
            "hash = " +
                fmt::format("{:016x}", v.hash()) + "\n");
  EXPECT_EQ(Vocabulary::parse(v.to_text(), "v.txt").to_text(), v.to_text());
}

TEST(Vocabulary, WhatIdsSpell) {
  const Vocabulary v(TokenizerKind::bpe, false, {"▁ab", "▁", "é", "a", "b"});
  EXPECT_EQ(v.letters(kEnd), U"");
  EXPECT_EQ(v.letters(kUnknown), U"\uFFFD");
  EXPECT_EQ(v.letters(4), U"ab");
  EXPECT_EQ(v.letters(5), U"");
  EXPECT_EQ(v.letters(6), U"é");
  const Vocabulary parts(TokenizerKind::wordpiece, false, {"ab", "##c", "a", "##b", "c"});
  EXPECT_EQ(parts.letters(4) + parts.letters(5), U"abc");
  const Vocabulary bytes(TokenizerKind::byte, false, {});
  EXPECT_EQ(bytes.letters(Vocabulary::byte_id('x')) + bytes.letters(Vocabulary::byte_id(' ')), U"x");
}

TEST(Vocabulary, ScoresAndBytesAreInTheFileToo) {
  const Vocabulary v(
      {.kind = TokenizerKind::unigram, .byte_fallback = true, .pieces = {"▁", "ab"}, .scores = {-1.5f, -0.1f}});
  const std::string text = v.to_text();
  EXPECT_TRUE(
      text.starts_with("attune vocabulary 1\nkind = unigram\nlowercase = false\nbyte_fallback = true\n"
                       "size = 262\n<pad>\n<s>\n</s>\n<unk>\n<0x00>\n<0x01>\n"))
      << text;
  EXPECT_NE(text.find("\n<0xFF>\n▁\t-1.5\nab\t-0.1\nhash = "), std::string::npos) << text;
  const Vocabulary back = Vocabulary::parse(text, "v.txt");
  EXPECT_EQ(back.to_text(), text);
  EXPECT_EQ(back.score(back.id("ab")), -0.1f);
  EXPECT_EQ(back.first(), kMarks + kBytes);
  EXPECT_TRUE(back.is_byte(kMarks) && back.is_byte(kMarks + 255) && !back.is_byte(kMarks + 256) && !back.is_byte(3));
  const Vocabulary bytes(TokenizerKind::byte, false, {});
  EXPECT_EQ(Vocabulary::parse(bytes.to_text(), "v.txt").to_text(), bytes.to_text());
}

TEST(Vocabulary, DamageIsNamedWithItsLine) {
  const std::string scores =
      Vocabulary({.kind = TokenizerKind::unigram, .byte_fallback = true, .pieces = {"a", "b"}, .scores = {-1, -2}})
          .to_text();
  const std::string bytes = Vocabulary(TokenizerKind::byte, false, {}).to_text();
  const std::string inside = Vocabulary(TokenizerKind::wordpiece, false, {"a", "##a"}).to_text();
  const std::string good = Vocabulary(TokenizerKind::bpe, false, {"ab", "▁", "a", "b"}).to_text();
  const std::string letters = Vocabulary(TokenizerKind::character, false, {"▁", "a", "b"}).to_text();
  const struct {
    std::string text, says;
  } cases[] = {
      {"", "v.txt:1: the file ends where 'attune vocabulary 1' should stand"},
      {"PK\x03\x04\n", "v.txt:1: this is no vocabulary: the first line should be 'attune vocabulary 1'"},
      {replaced(good, "vocabulary 1", "vocabulary 2"),
       "v.txt:1: version '2' of the format is not known to this attune, which reads version 1"},
      {replaced(good, "bpe", "magic"), "v.txt:2: kind 'magic' is none of bpe, unigram, wordpiece, byte, char, word"},
      {replaced(good, "kind =", "sort ="), "v.txt:2: 'kind = ...' should stand here, not 'sort = bpe'"},
      {replaced(good, "false", "no"), "v.txt:3: lowercase is true or false, not 'no'"},
      {replaced(good, "size = 8", "size = x8"), "v.txt:4: size is a number of at least 4, not 'x8'"},
      {replaced(good, "size = 8", "size = 3"), "v.txt:4: size is a number of at least 4, not '3'"},
      {replaced(good, "size = 8", "size = 99999999999"), "v.txt:4: size is a number of at least 4, not '99999999999'"},
      {replaced(good, "size = 8", "size = 2000000000"),
       "v.txt:14: the file ends where piece 10 of 2000000000 should stand"},
      {replaced(good, "size = 8", "size = 7"), "v.txt:12: 'hash = ...' should stand here, not 'b'"},
      {replaced(good, "<s>", "<S>"), "v.txt:6: '<s>' should stand here, not '<S>'"},
      {good.substr(0, good.find("a\nb\nhash")), "v.txt:11: the file ends where piece 7 of 8 should stand"},
      {good.substr(0, good.size() - 1), "v.txt:13: the file ends in the middle of a line"},
      {good.substr(0, good.find("hash")), "v.txt:13: the file ends where 'hash = ...' should stand"},
      {good + "\n", "v.txt:13: more follows than the 8 pieces that 'size' announces"},
      {replaced(good, "hash = ", "hash = z"), "v.txt:13: hash is 16 hexadecimal digits, not 'z"},
      {replaced(good, "\nb\nhash", "\na\nhash"), "v.txt:12: piece 'a' stands in line 11 already"},
      {replaced(good, "\nb\nhash", "\n<s>\nhash"), "v.txt:12: piece '<s>' stands in line 6 already"},
      {replaced(good, "\nb\nhash", "\n\nhash"), "v.txt:12: piece '' is empty"},
      {replaced(good, "\nb\nhash", "\n\xC3\nhash"), "v.txt:12: piece '\uFFFD' is not UTF-8"},
      {replaced(good, "\nb\nhash", "\nb \nhash"), "v.txt:12: piece 'b ' holds white space or a control character"},
      {replaced(good, "\nb\nhash", "\nb▁\nhash"),
       "v.txt:12: piece 'b▁' has a space mark that is not its first character"},
      {replaced(good, "\nb\nhash", "\nc\nhash"), "v.txt:9: piece 'ab' holds 'b', which is no piece itself"},
      {replaced(letters, "\nb\n", "\nbc\n"), "v.txt:11: piece 'bc' is longer than a character"},
      {replaced(scores, "b\t-2", "b"), "v.txt:267: a piece, a tab and a score should stand here, not 'b'"},
      {replaced(scores, "b\t-2", "b\t-x"), "v.txt:267: a piece, a tab and a score should stand here, not 'b?-x'"},
      {replaced(scores, "b\t-2", "b\t-inf"), "v.txt:267: a piece, a tab and a score should stand here, not 'b?-inf'"},
      {replaced(scores, "b\t-2", "a\t-2"), "v.txt:267: piece 'a' stands in line 266 already"},
      {replaced(scores, "b\t-2", "<0x41>\t-2"), "v.txt:267: piece '<0x41>' stands in line 75 already"},
      {replaced(scores, "<0x01>", "<0x1>"), "v.txt:11: '<0x01>' should stand here, not '<0x1>'"},
      {replaced(scores, "fallback = true", "fallback = false"),
       "v.txt:4: byte_fallback is true or not there, not 'false'"},
      {replaced(scores, "unigram", "word"), "v.txt:4: kind word has no byte fallback"},
      {replaced(scores, "size = 262", "size = 200"), "v.txt:5: size is a number of at least 260, not '200'"},
      {replaced(replaced(bytes, "size = 260", "size = 261"), "hash", "a\nhash"),
       "v.txt:265: piece 'a' is one more than the bytes"},
      {replaced(inside, "##a", "##"), "v.txt:10: piece '##' has nothing behind its ##"},
      {replaced(good, "lowercase = false", "lowercase = true"), "v.txt:13: the pieces have hash "},
  };
  for (const auto& c : cases) {
    const std::string said = message(c.text);
    if (c.says.find("hash is 16") != std::string::npos || c.says.ends_with("have hash "))
      EXPECT_TRUE(said.starts_with(c.says)) << said;
    else
      EXPECT_EQ(said, c.says);
  }
}

TEST(Vocabulary, NoCutOrFlippedBitGoesUnnoticed) {
  const std::string good = Vocabulary(TokenizerKind::word, true, {"der", "Straße", "häuser"}).to_text();
  for (size_t i = 0; i < good.size(); ++i) {
    EXPECT_NE(message(good.substr(0, i)), "nothing was thrown") << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      if (i >= good.size() - 17 && std::tolower(bad[i]) == good[i]) continue;  // a digit of the hash, in capitals
      EXPECT_NE(message(bad), "nothing was thrown") << i;
    }
  }
}

}  // namespace
}  // namespace attune::text
