// What kind of character something is, as far as cutting words asks, and what it is made of.
#pragma once
#include <cstdint>
#include <vector>

namespace attune::text {

enum class LetterKind : uint8_t {
  letter,     // letters, digits, accents of scripts that put spaces between words
  spaceless,  // of scripts that don't: Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan
  mark,       // punctuation and symbols
};

LetterKind letter_kind(char32_t code);

/// A letter and its accents apart (Unicode's canonical decomposition): "é" is "e" and U+0301. Others are themselves.
std::vector<char32_t> decomposed(char32_t code);

}  // namespace attune::text
