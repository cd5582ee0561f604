// Nested lists with operations on them: the answer needs the value of every inner list.
#include <algorithm>
#include <vector>

#include "data/probes/probe_lines.h"

namespace attune {

namespace {

constexpr const char* kOperations[] = {"[MAX", "[MIN", "[FIRST", "[LAST"};

int value_of(uint64_t operation, const std::vector<int>& values) {
  switch (operation) {
    case 0:
      return *std::max_element(values.begin(), values.end());
    case 1:
      return *std::min_element(values.begin(), values.end());
    case 2:
      return values.front();
    default:
      return values.back();
  }
}

struct Drawn {
  std::string text;
  int value = 0;
  int64_t words = 0;
};

Drawn draw(Random& random, const ListOpsLines& o, int64_t depth) {
  Drawn d;
  const uint64_t operation = random.below(4);
  d.text = kOperations[operation];
  d.words = 2;
  std::vector<int> values;
  for (uint64_t n = 2 + random.below(static_cast<uint64_t>(o.arguments - 1)); n > 0; --n) {
    Drawn inner;
    if (depth > 1 && random.below(3) == 0) {
      inner = draw(random, o, depth - 1);
    } else {
      inner.value = static_cast<int>(random.below(10));
      inner.text = std::to_string(inner.value);
      inner.words = 1;
    }
    d.text += " " + inner.text;
    d.words += inner.words;
    values.push_back(inner.value);
  }
  d.text += " ]";
  d.value = value_of(operation, values);
  return d;
}

}  // namespace

ProbeLine draw_listops(Random& random, const ListOpsLines& options) {
  ListOpsLines o = options;
  if (o.easier) {
    o.depth = 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(o.depth)));
    o.arguments = 2 + static_cast<int64_t>(random.below(static_cast<uint64_t>(o.arguments - 1)));
  }
  const auto wanted = static_cast<int>(random.below(10));  // otherwise 0 and 9, of MIN and MAX, would be the most
  for (;;) {
    const Drawn d = draw(random, o, o.depth);
    if (d.value == wanted && d.words <= o.words) return {d.text, std::to_string(wanted)};
  }
}

}  // namespace attune
