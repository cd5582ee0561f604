// What files hold, as far as a recipe for them depends on it: how much, how long, in which letters.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/files/data_files.h"

namespace attune {

/// One side of a corpus.
struct SideLook {
  int64_t words = 0;                  // between spaces
  int64_t tokens = 0;                 // about, once it is cut into subwords
  int64_t broken = 0;                 // lines that are not UTF-8
  int64_t characters = 0;             // without spaces
  int64_t ideographs = 0;             // of them: letters of languages that put no spaces between words
  int64_t ends = 0, spaced_ends = 0;  // lines that end with a full stop or the like, and with a space before it

  /// Words are not set off by spaces.
  bool without_spaces() const { return 2 * ideographs > characters; }
  /// Punctuation stands apart: the text went through a tokenizer before.
  bool is_tokenized() const { return ends >= 3 && 10 * spaced_ends > 9 * ends; }
};

struct CorpusLook {
  int64_t pairs = 0;             // with text on both sides; of one side: lines
  SideLook source, target;       // of one side: the target
  std::vector<int64_t> lengths;  // how many pairs have a longer side of about so many tokens; the last: or more
  int64_t same = 0;              // pairs whose sides are equal
  int64_t different_words = 0;   // on both sides together, counted up to kMostWords
  int64_t different_characters = 0;
  std::vector<std::string> remarks;  // what was left out or looks odd, a sentence each

  static constexpr int64_t kMostWords = 200'000;
  static constexpr int64_t kLongest = 4096;
  /// The length that all but one in `rest` pairs keep to.
  int64_t length_of_all_but(int64_t rest) const;
  int64_t longer_than(int64_t length) const;
};

/// Reads all pairs. ErrorKind::data when files differ in length, are empty, or are no text in UTF-8.
CorpusLook look_at(const std::vector<std::string>& files, const std::string& key, const DataSettings& options,
                   Sides sides = Sides::two);

}  // namespace attune
