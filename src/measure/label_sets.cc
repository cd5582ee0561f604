#include "measure/label_sets.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "measure/labels.h"

namespace attune {

void SetMetric::count(const MetricLine& line, LineCounts& out) const {
  const auto set_of = [](std::string_view text) {
    const auto labels = labels_of(text, true);
    return std::set<std::string_view>(labels.begin(), labels.end());
  };
  const auto said = set_of(line.hypothesis), there = set_of(line.references[0]);
  const auto right = std::count_if(said.begin(), said.end(), [&](std::string_view l) { return there.contains(l); });
  uint32_t place = 0;
  for (const double v : {static_cast<double>(right), static_cast<double>(said.size()),
                         static_cast<double>(there.size()), said == there ? 1.0 : 0.0, 1.0})
    out.emplace_back(place++, v);
}

double SetMetric::score(std::span<const double> sums) const { return label_score("", sums[0], sums[1], sums[2]).f1; }

void SetMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  const LabelScore s = label_score("", sums[0], sums[1], sums[2]);
  out.score = s.f1;
  out.text = fmt::format("F1 of label sets = {:.2f}{} (precision {:.2f} %, recall {:.2f} %, {:.2f} % of lines whole)",
                         s.f1, interval, s.precision, s.recall, percent(sums[3], sums[4]));
  out.details = {{"precision", s.precision}, {"recall", s.recall}, {"exact", percent(sums[3], sums[4])}};
}

}  // namespace attune
