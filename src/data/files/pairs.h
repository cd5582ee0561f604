// Two-sided text: the pairs of lines of a corpus, from a file for each side or from files of columns. One-sided text is
// pairs without a source: the lines of files, or a column of them.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "data/files/data_files.h"
#include "data/files/line_reader.h"
#include "data/files/records.h"

namespace attune {

/// How often something happened, and where first.
struct Tally {
  static constexpr size_t kPlaces = 3;
  int64_t count = 0;
  std::vector<std::string> places;  // "train.en:17", the first few
  void add(std::string place);
};

/// What became of the pairs of a corpus.
struct PairReport {
  Sides sides = Sides::two;
  int64_t pairs = 0;  // read
  int64_t kept = 0;
  Tally empty;          // a side is empty: skipped
  Tally overlong;       // a side is too long: skipped or cropped, as the options say
  Tally broken;         // a side is not UTF-8: what is broken becomes U+FFFD
  Tally odd;            // rows with another number of columns than the first of their file: read all the same
  int64_t surplus = 0;  // lines of the longer side that `truncate` dropped
  /// One sentence for each thing worth telling: "3 pairs with an empty side skipped (a.en:7, a.en:9, a.de:12)".
  std::vector<std::string> sentences(Overlong overlong) const;
};

/// Which pair: place(p, side) makes words of it.
struct PairPlace {
  int32_t files = 0;  // which pair of files
  int64_t line = 0;   // from 1
};

struct TextPair {
  std::string_view source, target;  // valid until the next call; a source of two texts has a tab between them
  PairPlace place;
  float weight = 1;  // of its loss
};

/// Reads pairs in order, skips and counts those with an empty side; in a text that is read on and on (data.stream),
/// empty lines stay. Memory does not grow with the corpus.
class PairReader {
 public:
  /// `files` and `key` as pair_files takes them; data.weights belongs to "data.train".
  PairReader(const std::vector<std::string>& files, const DataSettings& options, const std::string& key,
             Sides sides = Sides::two);

  /// False after the last one. ErrorKind::data when the sides differ in length (unless `truncate`), a line has not the
  /// columns it should have, or a weight is no number.
  bool next(TextPair& pair);

  std::string place(const PairPlace& place, int side) const;
  /// How many pairs had been read, skipped ones counted, when each pair of files was opened.
  const std::vector<int64_t>& begins() const { return begins_; }
  /// Counts so far.
  const PairReport& report() const { return report_; }
  PairReport& report() { return report_; }
  /// Of all pairs read so far, those skipped too. How the files are compressed or end their lines does not matter.
  std::string content_hash() const { return hash_.hex(); }

 private:
  bool open_files();
  bool next_of_files(TextPair& pair);
  bool next_record(TextPair& pair);
  void finish_lines(bool has_source, bool has_target);
  void check_row(const PairPlace& at);
  bool fits(const Record& row) const;
  void read_weight(TextPair& pair);
  void look_at(const TextPair& pair);

  std::vector<std::array<std::string, 2>> files_;
  DataSettings options_;
  bool keep_empty_;
  std::vector<int64_t> begins_;
  int32_t open_ = -1;     // which of files_
  bool is_open_ = false;  // it has not come to its end
  std::unique_ptr<LineReader> source_, target_, weights_;
  std::unique_ptr<RecordReader> records_;  // instead, of files of columns
  Columns columns_;
  Record row_;
  size_t width_ = 0;     // columns of the first row of the file
  std::string weight_;   // of the pair at hand, as it is written
  std::string texts_;    // of the pair at hand, where its source is two texts
  std::string answers_;  // likewise, where it has several
  PairReport report_;
  ContentHash hash_;
};

}  // namespace attune
