// Which words of a line its pieces are part of, words being what stands between white space.
#pragma once
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace attune::text {

inline bool is_space(char32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// The number of the word that each character is part of, or, for white space, of the word before it.
std::vector<int> words_of_characters(std::string_view text);
/// The number of the word each piece of a line is part of; -1 for pieces that are nothing but a space.
std::vector<int> words_of_pieces(const Tokenizer& tokenizer, std::string_view line);
/// How many words there are.
int count_words(std::string_view text);

}  // namespace attune::text
