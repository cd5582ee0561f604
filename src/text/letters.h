// What kind of character something is, as far as cutting words asks.
#pragma once
#include <cstdint>

namespace attune::text {

enum class LetterKind : uint8_t {
  letter,     // letters, digits, accents of scripts that put spaces between words
  spaceless,  // of scripts that don't: Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan
  mark,       // punctuation and symbols
};

LetterKind letter_kind(char32_t code);

}  // namespace attune::text
