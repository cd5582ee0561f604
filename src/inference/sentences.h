// Where sentences end, as far as marks tell it: for texts that are too long to be read at once.
#pragma once
#include <string_view>
#include <vector>

namespace attune {

/// The sentences of a text, white space between them left out; they view it. One ends after . ! ? … and their kin, with
/// the quotes and brackets behind them, where a blank follows and no small letter after that, but not after a single
/// letter ("J. Smith"); after 。！？ and their kin anywhere. A sentence of a single word ("Dr.") is part of the next.
std::vector<std::string_view> sentences_of(std::string_view line);

/// Whether two texts of one language that follow each other have a blank between them: not where Chinese or Japanese
/// characters meet.
bool blank_between(std::string_view left, std::string_view right);

}  // namespace attune
