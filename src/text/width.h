// How much room text takes in a terminal, and text that is safe to show there. Columns are those of a terminal with a
// fixed-width font: most characters take one, Chinese and Japanese ones and emoji two, combining accents none.
#pragma once
#include <string>
#include <string_view>

namespace attune::text {

/// Columns of a character: 0, 1 or 2.
int display_width(char32_t code);
int display_width(std::string_view text);

/// The same text for a terminal: whatever is in it, it can't move the cursor, change colours or turn the line around.
/// Control characters become their pictures (a tab "␉"), what has no look of its own or is broken U+FFFD, marks of
/// direction are left out, an accent without a letter gets a "◌" to stand on.
std::string harmless(std::string_view text);

/// Text of at most `columns` columns: what is longer ends with "…".
std::string shortened(const std::string& text, int columns);

}  // namespace attune::text
