#include "measure/alignment_error.h"

#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "text/links.h"

namespace attune {

namespace {

using Links = std::set<std::pair<int, int>>;

/// The links of a line: all of them, and the sure ones.
struct Line {
  Links all, sure;
};

Line read_line(std::string_view line, const char* what, int64_t number) {
  std::vector<text::Link> links;
  if (const std::string_view bad = text::read_links(line, links); !bad.empty())
    fail(ErrorKind::data, "line {} of the {}: '{}' is no link of two words\n  fix: write pairs of numbers: 0-0 1-2",
         number, what, bad.substr(0, 40));
  Line out;
  for (const text::Link& link : links) {
    out.all.emplace(link.source, link.target);
    if (!link.possible) out.sure.emplace(link.source, link.target);
  }
  return out;
}

double common(const Links& a, const Links& b) {
  double count = 0;
  for (const auto& link : a) count += b.contains(link) ? 1 : 0;
  return count;
}

/// Of nothing all is right.
double share(double of, double all) { return all > 0 ? 100 * of / all : 100; }

enum AlignmentPlace : uint32_t { kFound, kSure, kFoundSure, kFoundPossible };

}  // namespace

void AlignmentErrorMetric::count(const MetricLine& line, LineCounts& out) const {
  const Line a = read_line(line.hypothesis, "hypotheses", line.number);
  const Line r = read_line(line.references[0], "reference", line.number);
  out.emplace_back(kFound, std::ssize(a.all));
  out.emplace_back(kSure, std::ssize(r.sure));
  out.emplace_back(kFoundSure, common(a.all, r.sure));
  out.emplace_back(kFoundPossible, common(a.all, r.all));
}

double AlignmentErrorMetric::score(std::span<const double> sums) const {
  return 100 - share(sums[kFoundSure] + sums[kFoundPossible], sums[kFound] + sums[kSure]);
}

void AlignmentErrorMetric::describe(std::span<const double> sums, const std::string& interval,
                                    MetricResult& out) const {
  const double precision = share(sums[kFoundPossible], sums[kFound]), recall = share(sums[kFoundSure], sums[kSure]);
  out.score = score(sums);
  out.text = fmt::format("alignment error rate = {:.2f} %{} (precision {:.2f} %, recall {:.2f} %, {} links)", out.score,
                         interval, precision, recall, thousands(static_cast<int64_t>(sums[kFound])));
  out.details = {{"precision", precision}, {"recall", recall}, {"links", sums[kFound]}};
}

}  // namespace attune
