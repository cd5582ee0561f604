#include "text/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attune/error.h"
#include "text/corpus.h"

namespace attune::text {
namespace {

using test::random_lines;
using test::train_on;

std::vector<std::string> pieces_of(const Tokenizer& t) {
  std::vector<std::string> pieces;
  for (int32_t id = kMarks; id < t.size(); ++id) pieces.push_back(t.piece(id));
  return pieces;
}

TEST(TokenizerTrainer, SameTextSameBytes) {
  auto lines = random_lines(1000, 1);
  for (const auto kind : {TokenizerKind::bpe, TokenizerKind::unigram, TokenizerKind::wordpiece, TokenizerKind::byte,
                          TokenizerKind::character, TokenizerKind::word}) {
    const std::string first = train_on(lines, {.kind = kind, .size = 900}).tokenizer.vocabulary().to_text();
    EXPECT_EQ(train_on(lines, {.kind = kind, .size = 900}).tokenizer.vocabulary().to_text(), first);
    std::reverse(lines.begin(), lines.end());  // nor does the order of lines matter
    EXPECT_EQ(train_on(lines, {.kind = kind, .size = 900}).tokenizer.vocabulary().to_text(), first);
  }
}

TEST(TokenizerTrainer, FrequentFirstThenByBytes) {
  const std::vector<std::string> lines{"b a c", "a", "<s> <s>", ""};
  const auto words = train_on(lines, {.kind = TokenizerKind::word, .size = 6});
  EXPECT_EQ(pieces_of(words.tokenizer), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(words.note, "");
  EXPECT_EQ(words.lines, 4);
  EXPECT_EQ(words.words, 6);
  EXPECT_EQ(words.distinct_words, 4);
  const auto letters = train_on({"b a c", "a"}, {.kind = TokenizerKind::character, .size = 100});
  EXPECT_EQ(pieces_of(letters.tokenizer), (std::vector<std::string>{"▁", "a", "b", "c"}));
  EXPECT_EQ(letters.note, "the text gives no more than 8 pieces; 100 were asked for");
}

TEST(TokenizerTrainer, SmallTextGivesASmallVocabulary) {
  const auto t = train_on({"a"}, {.size = 32000});
  EXPECT_EQ(t.note, "the text gives no more than 7 pieces; 32,000 were asked for");
  EXPECT_EQ(t.tokenizer.decode(t.tokenizer.encode("a a")), "a a");
}

std::string data_error(const std::vector<std::string>& lines, const TokenizerOptions& options) {
  try {
    train_on(lines, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::data);
    return e.what();
  }
  return "nothing was thrown";
}

TEST(TokenizerTrainer, ErrorsHaveRemedies) {
  EXPECT_EQ(data_error({"", " \t"}, {}),
            "a tokenizer can't be made of nothing: 2 lines, no word in them\n  fix: check the files");
  EXPECT_EQ(data_error({"abc def"}, {.size = 10}),
            "tokenizer size 10 is too small for the 7 characters of the text and the 4 marks\n  fix: set size to 11 or "
            "more, or leave out rare characters by character_coverage = 0.9995");
  EXPECT_EQ(train_on({"abc def"}, {.size = 11}).tokenizer.size(), 11);
  EXPECT_EQ(
      data_error({"abc def"}, {.kind = TokenizerKind::wordpiece, .size = 9}),
      "tokenizer size 9 is too small for the 6 characters of the text, at the beginnings of words and inside, and "
      "the 4 marks\n  fix: set size to 10 or more, or leave out rare characters by character_coverage = 0.9995");
  EXPECT_EQ(train_on({"abc def"}, {.kind = TokenizerKind::wordpiece, .size = 10}).tokenizer.size(), 10);
  EXPECT_EQ(data_error({"abc"}, {.kind = TokenizerKind::byte, .size = 259}),
            "tokenizer size 259 is too small for the 256 bytes and the 4 marks\n  fix: set size to 260 or more");
  EXPECT_EQ(
      data_error({"abc def"}, {.size = 266, .byte_fallback = true}),
      "tokenizer size 266 is too small for the 7 characters of the text, the 256 bytes and the 4 marks\n  fix: set "
      "size to 267 or more, or leave out rare characters by character_coverage = 0.9995");
  EXPECT_EQ(train_on({"abc def"}, {.size = 267, .byte_fallback = true}).tokenizer.size(), 267);
  EXPECT_THROW(train_on({"a"}, {.kind = TokenizerKind::word, .byte_fallback = true}), Error);
  EXPECT_EQ(data_error({"\u2585"}, {}), "cannot train subwords: no word can be learned from");
  EXPECT_THROW(train_on({"a"}, {.size = 4}), Error);
  EXPECT_THROW(train_on({"a"}, {.character_coverage = 0}), Error);
}

TEST(TokenizerTrainer, OddTextsAreNoTrouble) {
  std::string chinese, noise;
  for (int i = 0; i < 100000; ++i) append_utf8(chinese, static_cast<char32_t>(0x4E00 + i % 300));
  Random random(1);
  for (int i = 0; i < 5000; ++i) noise += static_cast<char>(random.next());
  const auto t = train_on({chinese, noise, "▅ ▁ <unk>\t1"}, {.size = 20000});
  EXPECT_EQ(t.tokenizer.decode(t.tokenizer.encode(chinese)), chinese);
}

TEST(TokenizerTrainer, TinyTextsAreNoTrouble) {
  for (const auto kind : {TokenizerKind::unigram, TokenizerKind::wordpiece})
    for (const std::string text : {"a", "a a", "ab", "\u6F22", "<s> <0x41>", "#", "## ###"}) {
      const Tokenizer t = train_on({text}, {.kind = kind, .size = 300}).tokenizer;
      EXPECT_EQ(t.decode(t.encode(text)), text);
    }
}

TEST(TokenizerTrainer, WordsWithoutSpacesAreNoted) {
  const auto note = [](TokenizerKind kind) {
    return train_on({"\u6211\u7231\u5317\u4EAC ok"}, {.kind = kind, .size = 6}).note;
  };
  EXPECT_NE(note(TokenizerKind::word).find("no spaces between words"), std::string::npos);
  EXPECT_EQ(note(TokenizerKind::character), "");
}

TEST(TokenizerTrainer, OptionsDescribeThemselves) {
  TokenizerOptions options;
  set_field(options, "kind", std::string_view("char"));
  EXPECT_EQ(options.kind, TokenizerKind::character);
  EXPECT_THROW(set_field(options, "kind", std::string_view("magic")), Error);
}

}  // namespace
}  // namespace attune::text
