// How measures cut a line into words: sacreBLEU's tokenizers, byte for byte.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attune {

enum class Tokenization { v13a, none };
/// Their names in the order of the enum.
inline const std::vector<std::string> kTokenizations{"13a", "none"};

/// The line with a blank between words. 13a: mteval-v13a's, for languages that put blanks between words.
std::string tokenize(std::string_view line, Tokenization how);

/// The pieces between blanks, as Unicode knows them.
std::vector<std::string_view> split_words(std::string_view line);

}  // namespace attune
