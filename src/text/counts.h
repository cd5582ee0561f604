// What training a vocabulary starts from: how often each word, each character occurs.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/tokenizer_options.h"

namespace attune::text {

using Counts = std::unordered_map<std::string, int64_t>;
/// The most frequent first; of equally frequent ones the smaller bytes first, so that the order is always the same.
using RankedCounts = std::vector<std::pair<std::string, int64_t>>;
RankedCounts ranked(const Counts& counts);

/// Characters of words, each word having one "▁" before it. At the end are those beyond `coverage` cut off.
RankedCounts covered_characters(const RankedCounts& words, double coverage);

struct Subwords {
  std::vector<std::string> pieces;  // without marks and bytes
  std::vector<float> scores;        // unigram: of each piece
};
/// Pieces of kind bpe, in the order they merge, learned from words; or of kind unigram, learned from lines, each
/// counted once. Fewer than asked for when the text gives no more.
Subwords train_subwords(const RankedCounts& texts, const TokenizerOptions& options);

/// At most `size` pieces, unless there are more characters: those are always among them, first. Characters of words
/// that are not among the given ones are passed over.
std::vector<std::string> train_wordpiece(const RankedCounts& words, const RankedCounts& characters, size_t size);

}  // namespace attune::text
