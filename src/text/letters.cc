#include "text/letters.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace attune::text {

namespace {

struct Block {
  char32_t first, last;
};
/// Whole blocks of Unicode, in order.
constexpr Block kSpaceless[] = {
    {0x0E00, 0x0EFF},    // Thai, Lao
    {0x0F00, 0x0FFF},    // Tibetan
    {0x1000, 0x109F},    // Burmese
    {0x1780, 0x17FF},    // Khmer
    {0x19E0, 0x19FF},    // Khmer symbols
    {0x2E80, 0x2FDF},    // parts of Chinese characters
    {0x3005, 0x3007},    // signs that repeat one, and the round zero
    {0x3021, 0x3029},    // numbers
    {0x3040, 0x30FF},    // Hiragana, Katakana
    {0x3100, 0x312F},    // Bopomofo
    {0x31A0, 0x31FF},    // more of these two
    {0x3400, 0x4DBF},    // Chinese characters
    {0x4E00, 0x9FFF},    //
    {0xA9E0, 0xA9FF},    // Burmese
    {0xAA60, 0xAA7F},    //
    {0xF900, 0xFAFF},    // Chinese characters
    {0xFF66, 0xFF9F},    // narrow Katakana
    {0x1AFF0, 0x1B16F},  // Kana
    {0x20000, 0x3FFFF},  // Chinese characters
};

}  // namespace

LetterKind letter_kind(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  if (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO) return LetterKind::mark;
  const Block* block =
      std::partition_point(std::begin(kSpaceless), std::end(kSpaceless), [&](const Block& b) { return b.last < code; });
  return block != std::end(kSpaceless) && code >= block->first ? LetterKind::spaceless : LetterKind::letter;
}

std::vector<char32_t> decomposed(char32_t code) {
  utf8proc_int32_t parts[8];
  int last = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts, 8, UTF8PROC_DECOMPOSE, &last);
  if (count < 1 || count > 8) return {code};
  return {parts, parts + count};
}

}  // namespace attune::text
