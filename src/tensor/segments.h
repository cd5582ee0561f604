// Packed batches: all rows of all sequences one after another, no padding.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attune {

/// Where each sequence of a packed batch begins: sequence i is the rows [start[i], start[i + 1]). A sequence may be
/// empty.
struct Segments {
  std::vector<int32_t> start{0};
  int32_t longest = 0;

  Segments() = default;
  static Segments of_lengths(const std::vector<int32_t>& lengths);
  static Segments single(int64_t rows) { return of_lengths({static_cast<int32_t>(rows)}); }

  /// One more, behind the others.
  void add(int64_t rows) {
    start.push_back(start.back() + static_cast<int32_t>(rows));
    if (rows > longest) longest = static_cast<int32_t>(rows);
  }
  /// Empties it, but keeps its memory.
  void clear() {
    start.assign(1, 0);
    longest = 0;
  }

  int64_t count() const { return static_cast<int64_t>(start.size()) - 1; }
  int64_t rows() const { return start.back(); }
  int64_t begin(int64_t i) const { return start[static_cast<size_t>(i)]; }
  int64_t length(int64_t i) const { return start[static_cast<size_t>(i) + 1] - start[static_cast<size_t>(i)]; }
};

}  // namespace attune
