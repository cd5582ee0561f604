// Nested lists with operations on them: the answer needs the value of every inner list.
#include <algorithm>
#include <numeric>
#include <vector>

#include "data/probe_lines.h"

namespace attune {

namespace {

constexpr const char* kOperations[] = {"[MAX", "[MIN", "[MED", "[SM"};

int value_of(uint64_t operation, std::vector<int> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  switch (operation) {
    case 0:
      return values.back();
    case 1:
      return values.front();
    case 2:
      return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    default:
      return std::accumulate(values.begin(), values.end(), 0) % 10;
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

ProbeLine draw_listops(Random& random, const ListOpsLines& o) {
  const auto wanted = static_cast<int>(random.below(10));  // otherwise 0 and 9, of MIN and MAX, would be the most
  for (;;) {
    const Drawn d = draw(random, o, o.depth);
    if (d.value == wanted && d.words <= o.words) return {d.text, std::to_string(wanted)};
  }
}

}  // namespace attune
