// Copying over a gap. Which of the groups is to be copied is told far behind them, so that a group has to learn of the
// question, or the question of all groups, over the whole gap.
#include <algorithm>
#include <array>
#include <numeric>

#include "data/probe_lines.h"

namespace attune {

namespace {

constexpr const char* kColours = "abcdefgh";
constexpr const char* kFillers[] = {"la", "le", "lo", "lu"};

/// The first `count` of a random order.
template <size_t N>
std::array<int, N> shuffled(Random& random) {
  std::array<int, N> order;
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = N; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

ProbeLine draw_copy(Random& random, const CopyLines& o) {
  ProbeLine line;
  const auto colours = shuffled<8>(random);
  const auto asked = random.below(static_cast<uint64_t>(o.groups));
  for (int64_t g = 0; g < o.groups; ++g) {
    const auto numbers = shuffled<10>(random);  // no number twice in a group: each bead has one that follows it
    for (int64_t b = 0; b < o.beads; ++b) {
      const std::string bead{kColours[colours[static_cast<size_t>(g)]],
                             static_cast<char>('0' + numbers[static_cast<size_t>(b)])};
      line.source += bead + " ";
      if (static_cast<uint64_t>(g) == asked) line.target += (b ? " " : "") + bead;
    }
  }
  const auto least = static_cast<uint64_t>(o.gap * 3 / 4), most = static_cast<uint64_t>(o.gap);
  for (uint64_t n = least + random.below(most - least + 1); n > 0; --n)
    line.source += std::string(kFillers[random.below(4)]) + " ";
  line.source += kColours[colours[asked]];
  return line;
}

}  // namespace attune
