// Small letters: one character by itself, as tokenizers do, or a line by the rules that look around, as measures do.
#pragma once
#include <string>
#include <string_view>

namespace attune::text {

/// The small letter of a capital one; everything else stays.
char32_t lower(char32_t code);

/// A line nearly as Python's (and so sacreBLEU's) lower() has it: a sigma that ends a word has a form of its own (by
/// the characters beside it, where Python passes over accents and apostrophes), and a capital I with a dot becomes two
/// characters. What is no UTF-8 stays as it is.
std::string lower_case(std::string_view line);

}  // namespace attune::text
