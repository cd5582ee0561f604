// Copying over a gap. The decoder can only look at one place for each bead, so that a colour has to find its bead, or
// a bead its place in the order, over the whole gap.
#include <array>
#include <numeric>
#include <utility>

#include "data/probes/probe_lines.h"

namespace attune {

namespace {

constexpr size_t kColours = 8;
constexpr const char* kFillers[] = {"la", "le", "lo", "lu"};

/// A random order of 0 to count - 1.
std::array<size_t, kColours> shuffled(Random& random, size_t count) {
  std::array<size_t, kColours> order{};
  std::iota(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), size_t{0});
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

ProbeLine draw_copy(Random& random, const CopyLines& o) {
  const auto beads = o.easier ? 1 + random.below(static_cast<uint64_t>(o.beads)) : static_cast<uint64_t>(o.beads);
  const auto colours = shuffled(random, kColours);  // of the beads
  const auto order = shuffled(random, beads);       // in which they are asked for
  std::array<std::string, kColours> bead;
  for (size_t i = 0; i < beads; ++i)
    bead[i] = {static_cast<char>('a' + colours[i]), static_cast<char>('0' + random.below(10))};

  ProbeLine line;
  for (size_t i = 0; i < beads; ++i) {
    const std::string& next = bead[order[i]];
    line.source += std::string{next[0], ' '};
    line.target += (i ? " " : "") + next;
  }
  for (uint64_t n = draw_gap(random, o.gap, o.easier); n > 0; --n)
    line.source += std::string(kFillers[random.below(4)]) + " ";
  for (size_t i = 0; i < beads; ++i) line.source += (i ? " " : "") + bead[i];
  return line;
}

}  // namespace attune
