#include "measure/exact_match.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "text/lower_case.h"

namespace attune {

void ExactMetric::count(const MetricLine& line, LineCounts& out) const {
  const std::string_view h = line.hypothesis;
  const bool right = std::any_of(line.references.begin(), line.references.end(), [&](std::string_view r) {
    return r == h || (options_.lowercase && text::lower_case(r) == text::lower_case(h));
  });
  if (right) out.emplace_back(0, 1);
  out.emplace_back(1, 1);
}

void ExactMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  out.score = score(sums);
  out.text = fmt::format("exact match = {:.2f} %{} ({} of {} lines)", out.score, interval,
                         thousands(static_cast<int64_t>(sums[0])), thousands(static_cast<int64_t>(sums[1])));
  out.details = {{"right", sums[0]}, {"lines", sums[1]}};
}

}  // namespace attune
