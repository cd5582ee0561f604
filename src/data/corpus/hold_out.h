// Which pairs of a corpus are held out to validate on, decided while they go by: one pass and little memory, however
// many there are.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace attune {

/// 2 % of the different pairs, at least 1 and at most 1,000: those of the least hashes, which depend on the seed and
/// the text alone.
class HoldOut {
 public:
  static constexpr size_t kMost = 1000, kShare = 50;  // at most, one in so many
  explicit HoldOut(uint64_t seed);
  /// The next pair. `content`: what it is known by, where that is not the text of its source.
  void see(std::string_view source, std::string_view target, std::string_view content);
  void see(std::string_view source, std::string_view target) { see(source, target, source); }

  struct Chosen {
    std::vector<int64_t> all;                 // numbers, every copy of them too
    std::vector<int64_t> first;               // of each the first
    std::vector<std::string> source, target;  // text, of `first`
  };
  /// None of a corpus of a single different pair.
  Chosen choose() const;

 private:
  void forget();

  uint64_t seed_;
  std::string joined_;
  int64_t seen_ = 0;
  std::unordered_set<uint64_t> different_;  // hashes, until there are so many that the count does not matter any more
  bool many_ = false;
  std::map<uint64_t, std::pair<std::string, std::string>> candidates_;  // of the least hashes
  std::vector<std::pair<uint64_t, int64_t>> places_;                    // hash and number of what was a candidate once
  size_t forget_at_ = 1 << 16;
};

}  // namespace attune
