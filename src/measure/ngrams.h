// n-grams of a few sequences that belong together (a line and its references), as small numbers: equal n-grams have
// equal numbers, whichever sequence they stand in. One order after another; each takes time linear in the length.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace attune {

using Ids = std::vector<uint32_t>;

/// Numbers things from 0 in the order in which they come.
class Numbering {
 public:
  explicit Numbering(size_t most) { reset(most); }
  /// Forgets all; at most `most` things will come.
  void reset(size_t most);
  uint32_t number(uint64_t key);
  uint32_t size() const { return size_; }

 private:
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> numbers_;
  uint32_t size_ = 0;
};

/// The words of several lines, numbered alike.
std::vector<Ids> number_words(const std::vector<std::vector<std::string_view>>& lines);

class Ngrams {
 public:
  /// Starts with order 1: the elements themselves.
  explicit Ngrams(std::vector<Ids> sequences);
  /// The n-grams of sequence k, in order; none when it is shorter than n.
  const Ids& of(size_t k) const { return ids_[k]; }
  /// All ids are below this.
  uint32_t distinct() const { return distinct_; }
  /// Goes on to the next order.
  void longer();

  /// How many n-grams of sequence k find a partner of their own in sequence `other`.
  int64_t matches(size_t k, size_t other) const;
  /// The same where each n-gram may count as often as in the sequence, from `first` on, that has it most often.
  int64_t matches_any(size_t k, size_t first) const;

 private:
  std::vector<Ids> elements_, ids_;
  size_t order_ = 1;
  uint32_t distinct_ = 0;
};

}  // namespace attune
