// How measures cut a line into words: sacreBLEU's tokenizers, byte for byte.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attune {

enum class Tokenization { v13a, intl, character, zh, none };
/// Their names in the order of the enum.
inline const std::vector<std::string> kTokenizations{"13a", "intl", "char", "zh", "none"};

/// The line with a blank between words. 13a: mteval-v13a's, for languages that put blanks between words. intl:
/// mteval-v14's, by Unicode's punctuation and symbols. char: every character. zh: every Chinese character, and what is
/// between them as 13a does.
std::string tokenize(std::string_view line, Tokenization how);

/// The pieces between blanks, as Unicode knows them.
std::vector<std::string_view> split_words(std::string_view line);
/// Without blanks at its end, or at both ends.
std::string_view without_last_blanks(std::string_view line);
std::string_view without_outer_blanks(std::string_view line);

/// The regular expressions that 13a and zh end with: symbols and most marks first, then stops, commas and dashes.
std::string separate_symbols(std::string_view line);
std::string separate_stops(std::string_view line);
/// intl and zh, before blanks are made one.
std::string separate_intl(std::string_view line);
std::string separate_chinese(std::string_view line);
void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace attune
