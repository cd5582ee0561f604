// Small work on text; what other programs may want too is in attune/text.h.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "attune/text.h"

namespace attune {

/// How many letters to insert, delete, change or swap with a neighbour to get from one word to another.
int edit_distance(std::string_view a, std::string_view b);
std::string join(const std::vector<std::string>& parts, std::string_view between);
/// Pieces between separators; empty ones are kept. "" gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);
/// The same, but not at separators within parentheses.
std::vector<std::string> split_outside_parentheses(std::string_view text, char separator);
/// What stands between blanks; they view the text.
std::vector<std::string_view> words_of(std::string_view text);
/// Without spaces, tabs and line ends at both sides.
std::string_view trim(std::string_view text);

/// Whether a text that should be JSON has no lists, and no objects more than so many deep: found in one pass, before
/// anything is made of it that takes many times its size.
bool json_within(std::string_view text, int depth);

/// A number with a decimal comma as it has a point: "0,25" and "12,5". Where the comma may separate thousands
/// ("1,234"), and for all other texts, the text as it is.
std::string with_decimal_point(std::string_view number);

/// A text as a cell of a Markdown table: a bar would end the cell.
std::string markdown_cell(std::string_view text);

}  // namespace attune
