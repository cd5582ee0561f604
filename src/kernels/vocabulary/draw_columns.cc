#include "kernels/vocabulary/draw_columns.h"

#include <algorithm>
#include <numeric>

namespace attune::kernels {

namespace {

constexpr size_t kFirst = 64;  // so many are sorted at first: mostly they have the share

/// The columns that may be chosen, heaviest first.
void find_heaviest(std::span<const float> weights, const Heaviest& of, std::vector<int32_t>& columns) {
  columns.resize(weights.size());
  std::iota(columns.begin(), columns.end(), 0);
  std::erase_if(columns, [&](int32_t c) { return weights[static_cast<size_t>(c)] == 0; });
  const auto heavier = [&](int32_t a, int32_t b) {
    const float x = weights[static_cast<size_t>(a)], y = weights[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  const auto sum = [&] {
    double total = 0;
    for (const int32_t c : columns) total += static_cast<double>(weights[static_cast<size_t>(c)]);
    return total;
  };
  if (of.k > 0 && of.k < std::ssize(columns)) {
    std::nth_element(columns.begin(), columns.begin() + of.k, columns.end(), heavier);
    columns.resize(static_cast<size_t>(of.k));
  }
  if (of.p >= 1) {
    std::sort(columns.begin(), columns.end());  // any order will do, as long as it is one
    return;
  }
  const double enough = of.p * sum();
  double total = 0;
  for (size_t sorted = 0, count = 0; count < columns.size(); ++count) {
    if (count == sorted) {
      const size_t from = sorted;
      sorted = std::min(columns.size(), std::max(kFirst, 4 * sorted));
      const auto at = [&](size_t i) { return columns.begin() + static_cast<ptrdiff_t>(i); };
      std::partial_sort(at(from), at(sorted), columns.end(), heavier);
    }
    total += static_cast<double>(weights[static_cast<size_t>(columns[count])]);
    if (total >= enough) columns.resize(count + 1);
  }
}

}  // namespace

void draw_columns(std::span<const float> weights, const Heaviest& of, std::span<const double> random,
                  std::vector<int32_t>& columns, int32_t* ids) {
  find_heaviest(weights, of, columns);
  double total = 0;
  for (const int32_t c : columns) total += static_cast<double>(weights[static_cast<size_t>(c)]);
  for (size_t d = 0; d < random.size(); ++d) {
    double left = random[d] * total;
    size_t at = 0;
    while (at + 1 < columns.size() && left >= static_cast<double>(weights[static_cast<size_t>(columns[at])]))
      left -= static_cast<double>(weights[static_cast<size_t>(columns[at++])]);
    ids[d] = columns[at];
  }
}

}  // namespace attune::kernels
