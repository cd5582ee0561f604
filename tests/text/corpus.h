// Text for tests, made of random syllables: Latin with accents, Chinese, digits, punctuation.
#pragma once
#include <string>
#include <vector>

#include "base/random.h"
#include "text/trainer.h"
#include "text/utf8.h"

namespace attune::text::test {

inline std::string random_word(Random& random) {
  static const char* const syllables[] = {"ba", "ko", "ri",  "mé", "tü", "ña", "sch",
                                          "st", "en", "ing", "ö",  "ße", "lo"};
  std::string word;
  switch (random.below(8)) {
    case 0:  // Chinese
      for (uint64_t n = 1 + random.below(5); n > 0; --n)
        append_utf8(word, static_cast<char32_t>(0x4E00 + random.below(40)));
      return word;
    case 1:
      return std::to_string(random.below(3000));
    default:
      for (uint64_t n = 1 + random.below(4); n > 0; --n) word += syllables[random.below(std::size(syllables))];
      if (random.below(5) == 0) word += ".,!?'-"[random.below(6)];
      return word;
  }
}

inline std::vector<std::string> random_lines(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<std::string> lexicon, lines;
  for (int i = 0; i < 2000; ++i) lexicon.push_back(random_word(random));
  for (size_t i = 0; i < count; ++i) {
    std::string line;
    for (uint64_t n = 1 + random.below(20); n > 0; --n) {
      if (!line.empty()) line += ' ';
      const double u = random.uniform();  // a few words are frequent, most are rare
      line += random.below(20) == 0 ? random_word(random) : lexicon[static_cast<size_t>(u * u * u * 2000)];
    }
    lines.push_back(line);
  }
  return lines;
}

inline TrainedTokenizer train_on(const std::vector<std::string>& lines, const TokenizerOptions& options) {
  size_t next = 0;
  return train_tokenizer(
      [&](std::string& line) {
        if (next == lines.size()) return false;
        line = lines[next++];
        return true;
      },
      options);
}

}  // namespace attune::text::test
