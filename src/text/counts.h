// What training a vocabulary starts from: how often each word, each character occurs.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace attune::text {

using Counts = std::unordered_map<std::string, int64_t>;
/// The most frequent first; of equally frequent ones the smaller bytes first, so that the order is always the same.
using RankedCounts = std::vector<std::pair<std::string, int64_t>>;
RankedCounts ranked(const Counts& counts);

/// Characters of words, each word having one "▁" before it. At the end are those beyond `coverage` cut off.
RankedCounts covered_characters(const RankedCounts& words, double coverage);

/// The pieces of a BPE vocabulary in the order they merge, at most `size`; fewer when the words give no more.
std::vector<std::string> train_bpe(const RankedCounts& words, int64_t size, double coverage);

}  // namespace attune::text
