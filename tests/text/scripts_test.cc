// Scripts that put no spaces between words: every kind of tokenizer learns from them and gives them back.
#include <gtest/gtest.h>

#include "text/corpus.h"

namespace attune::text {
namespace {

using test::train_on;

/// Sentences of made-up words of a script, without spaces.
std::vector<std::string> sentences(std::vector<char32_t> letters, std::u32string_view stop, size_t count) {
  Random random(2);
  std::vector<std::string> words, lines;
  for (int i = 0; i < 60; ++i) {
    std::string word;
    for (uint64_t n = 1 + random.below(3); n > 0; --n) append_utf8(word, letters[random.below(letters.size())]);
    words.push_back(word);
  }
  for (size_t i = 0; i < count; ++i) {
    std::string line;
    for (uint64_t n = 5 + random.below(15); n > 0; --n) line += words[random.below(words.size())];
    append_utf8(line, stop[0]);
    lines.push_back(line);
  }
  return lines;
}

std::vector<char32_t> letters(char32_t first, char32_t last) {
  std::vector<char32_t> all;
  for (char32_t c = first; c <= last; ++c) all.push_back(c);
  return all;
}

TEST(ScriptsWithoutSpaces, AreLearnedAndComeBack) {
  const struct {
    const char* name;
    std::vector<std::string> lines;
  } scripts[] = {{"Chinese", sentences(letters(0x4E00, 0x4E60), U"\u3002", 200)},
                 {"Japanese", sentences(letters(0x3042, 0x3093), U"\u3002", 200)},
                 {"Thai", sentences(letters(0x0E01, 0x0E2E), U"!", 200)}};
  for (const auto& script : scripts)
    for (const auto kind : {TokenizerKind::bpe, TokenizerKind::unigram, TokenizerKind::wordpiece, TokenizerKind::byte,
                            TokenizerKind::character}) {
      const bool learned = kind != TokenizerKind::byte && kind != TokenizerKind::character;
      const std::vector<std::string> known(script.lines.begin(), script.lines.begin() + 150);
      const Tokenizer t = train_on(known, {.kind = kind, .size = 600}).tokenizer;
      size_t pieces = 0, characters = 0;
      for (const std::string& line : script.lines) {
        const std::string text = normalize(line);
        const auto ids = t.encode(line);
        pieces += ids.size();
        characters += character_starts(text).size() - 1;
        ASSERT_EQ(t.decode(ids), text) << script.name;
      }
      // What was learned are words of several letters.
      if (!learned) continue;
      EXPECT_LT(pieces * 5, characters * 4) << script.name << " " << static_cast<int>(kind);
    }
}

}  // namespace
}  // namespace attune::text
