// Lines that are longer than a model can read, cut into pieces that it can, and what is said of these put together.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "attune/translator.h"
#include "text/tokenizer.h"

namespace attune {

/// The line's sentences; of those that have more than `most` tokens, runs of words of at most 64 that are about as long
/// as one another; of words that have more, parts of them. They view the line. A line that is not too long is one
/// piece.
std::vector<std::string_view> pieces_of_line(const text::Tokenizer& tokenizer, std::string_view line, size_t most);

/// What was said of the pieces of a line, as the translation of the line: texts one after another, tokens and their
/// scores too; the score is their sum over the penalty of all, and alignments count the words of the whole. The second
/// best has the second best of every piece, and so on. Without attention, which would be as large as both lines.
Translation joined_translation(std::string_view line, std::span<const std::string_view> pieces,
                               std::span<const Translation> said, double length_penalty);

}  // namespace attune
