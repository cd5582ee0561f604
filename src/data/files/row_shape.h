// What the rows of a source are where they are no words: pixels, vectors of nodes. Kept where the tokenizer of a text
// model is, FOLDER/rows.txt, UTF-8:
//
//   attune rows 1                what it is, and the version of this format
//   width = 1                    numbers of a row
//   grid = 28 28                 of its places, the most on each axis; nothing: rows have no place but their index
//   longest = 784                rows of an example, at most
//   features = columns           of an example they are columns that are not zero, by their numbers; no such line:
//   values hash = 0123456789abcdef      XXH3 of all lines above
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attune {

struct RowShape {
  static constexpr const char* kFile = "rows.txt";

  int64_t width = 0;
  std::vector<int64_t> grid = {};
  int64_t longest = 0;
  bool by_column = false;  // features are columns by their numbers, so that one that is never named is zero

  /// Grows to what the other has, too. Their widths and axes are the same.
  void cover(const RowShape& other);
  void save(const std::string& folder) const;
  /// ErrorKind::model when the file is not as it should be.
  static RowShape load(const std::string& folder);
  uint64_t hash() const;
};

}  // namespace attune
