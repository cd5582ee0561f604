// An n-gram model of token ids with interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998, "An empirical
// study of smoothing techniques for language modeling", section 3; the least order is mixed with all words alike):
//
//   p(w | h) = (c(h w) - D(c(h w)) + sum_v D(c(h v)) p(w | h')) / c(h)      h' is h without its first word
//
// c counts what was said of the longest n-grams; of shorter ones, how many different words came before them, but for
// those at the begin of a text. D is one of three discounts for counts of 1, 2, and 3 or more.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace attune {

/// Pairs of numbers to numbers in the order in which they come, from 1 on.
class GrowingMap {
 public:
  /// Its number; a new one where it was not there.
  uint32_t add(uint64_t key, bool* is_new);
  /// 0: it is not there.
  uint32_t find(uint64_t key) const { return slots_.empty() ? 0 : slots_[place(key)]; }
  uint64_t key(uint32_t number) const { return keys_[number - 1]; }

 private:
  size_t place(uint64_t key) const;
  void grow();
  std::vector<uint32_t> slots_;  // numbers; 0: free
  std::vector<uint64_t> keys_;
};

class NgramModel {
 public:
  /// Ids are below `words`.
  NgramModel(int order, int64_t words);
  /// Counts a text, from its begin.
  void add(std::span<const int32_t> text);
  /// After the last text.
  void finish();

  /// Where a reader is in a text: the n-grams of each length that end here.
  using State = std::vector<uint32_t>;
  State begin() const;
  /// p(word | what was read). No state is changed.
  double probability(const State& state, int32_t word) const;
  void read(int32_t word, State& state) const;
  /// What a text costs from its begin, in nats.
  double nats(std::span<const int32_t> text) const;

 private:
  /// All n-grams of one length. Number 0 is the begin of a text, so many times; others are found by the one before
  /// their last word, and that.
  struct Length {
    GrowingMap ngrams;
    std::vector<uint32_t> counts{0};
    std::vector<double> total, given;  // of what follows each: all counts, and what discounts leave to shorter ones
    std::array<double, 4> discount{};
  };
  static constexpr uint32_t kNone = UINT32_MAX;
  static uint64_t key_of(uint32_t before, int32_t word) {
    return static_cast<uint64_t>(before) << 32 | static_cast<uint32_t>(word);
  }
  uint32_t find(size_t length, uint32_t before, int32_t word) const;
  void estimate_discounts(Length& length) const;

  int64_t words_;
  std::vector<Length> lengths_;  // [n]: of n words; [0] has the empty one
};

}  // namespace attune
