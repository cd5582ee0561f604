// Which rows each row reads, told row by row: for attention whose keys lie apart and are few (a ring and its relay, the
// nodes of a tree, the edges of a graph).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace attune {

struct KeyLists {
  std::vector<int32_t> start{0}, keys;       // row i reads keys[start[i]] to keys[start[i + 1]]: pairs, in order
  std::vector<int32_t> query;                // of each pair
  std::vector<int32_t> read_start, read_by;  // and the other way: key row j is in pairs read_by[read_start[j]] ...
  int32_t longest = 0;

  void add(int64_t key) {
    keys.push_back(static_cast<int32_t>(key));
    query.push_back(static_cast<int32_t>(start.size()) - 1);
  }
  void end_row() {
    longest = std::max(longest, static_cast<int32_t>(keys.size()) - start.back());
    start.push_back(static_cast<int32_t>(keys.size()));
  }
  /// The other way, of so many key rows; once all rows are there.
  void finish(int64_t key_rows) {
    read_start.assign(static_cast<size_t>(key_rows) + 1, 0);
    for (const int32_t k : keys) ++read_start[static_cast<size_t>(k) + 1];
    for (size_t j = 0; j < static_cast<size_t>(key_rows); ++j) read_start[j + 1] += read_start[j];
    std::vector<int32_t> at(read_start.begin(), read_start.end() - 1);
    read_by.resize(keys.size());
    for (size_t e = 0; e < keys.size(); ++e)
      read_by[static_cast<size_t>(at[static_cast<size_t>(keys[e])]++)] = static_cast<int32_t>(e);
  }
  int64_t rows() const { return static_cast<int64_t>(start.size()) - 1; }
  int64_t key_rows() const { return static_cast<int64_t>(read_start.size()) - 1; }
  int64_t bytes() const {
    return static_cast<int64_t>(sizeof(int32_t) * (start.capacity() + keys.capacity() + query.capacity() +
                                                   read_start.capacity() + read_by.capacity()));
  }
  int64_t pairs() const { return static_cast<int64_t>(keys.size()); }
};

}  // namespace attune
