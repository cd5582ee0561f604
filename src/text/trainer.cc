#include "text/trainer.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "text/counts.h"
#include "text/utf8.h"

namespace attune::text {

namespace {

bool is_mark(std::string_view word) {
  return std::find(std::begin(kMarkNames), std::end(kMarkNames), word) != std::end(kMarkNames);
}

std::vector<std::string> names_of(const RankedCounts& counts) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) names.push_back(name);
  return names;
}

/// All characters of the words, each word with the space before it, must find room beside the marks.
[[noreturn]] void fail_too_small(size_t characters, const TokenizerOptions& options) {
  const int64_t least = static_cast<int64_t>(characters) + kMarks;
  fail(ErrorKind::data,
       "tokenizer size {} is too small for the {} characters of the text and the {} marks\n"
       "  fix: set size to {} or more, or leave out rare characters by character_coverage = 0.9995",
       thousands(options.size), thousands(static_cast<int64_t>(characters)), int{kMarks}, thousands(least));
}

std::vector<std::string> pieces_of(const RankedCounts& words, const TokenizerOptions& options) {
  const auto room = static_cast<size_t>(options.size - kMarks);
  if (options.kind == TokenizerKind::word) {
    std::vector<std::string> pieces = names_of(words);
    std::erase_if(pieces, is_mark);  // text can't forge a mark
    pieces.resize(std::min(pieces.size(), room));
    return pieces;
  }
  const RankedCounts characters = covered_characters(words, options.character_coverage);
  if (options.kind == TokenizerKind::character) {
    std::vector<std::string> pieces = names_of(characters);
    pieces.resize(std::min(pieces.size(), room));
    return pieces;
  }
  if (characters.size() > room) fail_too_small(characters.size(), options);
  return train_bpe(words, options.size, options.character_coverage);
}

}  // namespace

RankedCounts ranked(const Counts& counts) {
  RankedCounts list(counts.begin(), counts.end());
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return list;
}

RankedCounts covered_characters(const RankedCounts& words, double coverage) {
  Counts counts;
  int64_t all = 0;
  for (const auto& [word, count] : words) {
    counts[std::string(kSpacePiece)] += count;
    all += count;
    std::string letter;
    for (Character c : Characters(word)) {
      letter.clear();
      append_utf8(letter, c.code);
      counts[letter] += count;
      all += count;
    }
  }
  RankedCounts list = ranked(counts);
  int64_t seen = 0;
  size_t kept = 0;
  while (kept < list.size() && (coverage >= 1 || static_cast<double>(seen) < coverage * static_cast<double>(all)))
    seen += list[kept++].second;
  list.resize(kept);
  return list;
}

TrainedTokenizer train_tokenizer(LineSource next_line, TokenizerOptions options) {
  check_fields(fields_of(options));
  Counts counts;
  int64_t lines = 0, total = 0;
  for (std::string line; next_line(line); ++lines) {
    const std::string text = normalize(line, options.lowercase);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(' ', begin), text.size());
      ++counts[text.substr(begin, end - begin)];
      ++total;
      begin = end + 1;
    }
  }
  if (counts.empty())
    fail(ErrorKind::data, "a tokenizer can't be made of nothing: {} lines, no word in them\n  fix: check the files",
         thousands(lines));
  const auto distinct = static_cast<int64_t>(counts.size());
  const RankedCounts words = ranked(counts);
  counts = {};
  TrainedTokenizer result{Tokenizer(Vocabulary(options.kind, options.lowercase, pieces_of(words, options))), lines,
                          total, distinct, ""};
  if (result.tokenizer.size() < options.size)
    result.note = fmt::format("the text gives no more than {} pieces; {} were asked for",
                              thousands(result.tokenizer.size()), thousands(options.size));
  return result;
}

}  // namespace attune::text
