// Which source tokens the target tokens of a corpus go with, read from files of word alignments (data.alignment).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "data/files/line_reader.h"
#include "data/files/pairs.h"
#include "text/links.h"

namespace attune {

/// Of each target token of a corpus, places in the source sentence in ascending order. 8 bytes a token and 4 a link.
struct Alignment {
  std::vector<int64_t> start{0};
  std::vector<int32_t> sources;

  /// Of no token at all.
  bool empty() const { return start.size() == 1; }
  int64_t tokens() const { return static_cast<int64_t>(start.size()) - 1; }
  std::span<const int32_t> operator[](int64_t token) const {
    const auto from = static_cast<size_t>(start[static_cast<size_t>(token)]);
    return std::span(sources).subspan(from, static_cast<size_t>(start[static_cast<size_t>(token) + 1]) - from);
  }
  /// One token more.
  void add(std::span<const int32_t> links);
  /// Takes out those tokens for which `marked` says so, in place.
  void erase(const std::vector<bool>& marked);
};

/// Links of words to links of tokens: each token of a word goes with each token of the words it is linked to.
/// source_words and target_words tell the words of the tokens.
void add_pair(std::span<const text::Link> links, std::span<const int> source_words, std::span<const int> target_words,
              Alignment& to);

/// Reads the lines of alignment files beside the pairs of a corpus.
class AlignmentReader {
 public:
  /// A file for each pair of files of data.train: ErrorKind::recipe when there are `pairs` of these and not as many.
  AlignmentReader(const std::vector<std::string>& files, size_t pairs, bool truncate);

  /// The links of the pair that was just read; `begins` is how many lines had been read before each of the pairs of
  /// files that are open so far, skipped ones counted: a pair of files may have no pair that is kept. ErrorKind::data,
  /// with file and line, for what is no link, for words that there are not, and for files that are shorter or longer
  /// than the corpus.
  const std::vector<text::Link>& next(const TextPair& pair, const std::vector<int64_t>& begins);
  /// After the last pair; `read`: lines of all.
  void finish(const std::vector<int64_t>& begins, int64_t read);
  /// Of all lines so far.
  std::string content_hash() const { return hash_.hex(); }

 private:
  bool next_line(std::string_view& line);
  void open_to(int32_t files, const std::vector<int64_t>& begins);
  void finish_file(int64_t lines);

  std::vector<std::string> files_;
  bool truncate_;
  int32_t open_ = -1;
  std::unique_ptr<LineReader> reader_;
  std::vector<text::Link> links_;
  ContentHash hash_;
};

}  // namespace attune
