#include "measure/alignment_error.h"

#include <set>
#include <utility>

#include "attune/version.h"
#include "base/error.h"
#include "text/links.h"

namespace attune {

namespace {

using Links = std::set<std::pair<int, int>>;

/// The links of a line: all of them, and the sure ones.
struct Line {
  Links all, sure;
};

Line read_line(const std::string& line, const char* what, size_t number) {
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

int64_t common(const Links& a, const Links& b) {
  int64_t count = 0;
  for (const auto& link : a) count += b.contains(link);
  return count;
}

double percent(int64_t of, int64_t all) {
  return all > 0 ? 100.0 * static_cast<double>(of) / static_cast<double>(all) : 100;
}

}  // namespace

AlignmentError alignment_error(const std::vector<std::string>& hypotheses, const std::vector<std::string>& reference) {
  check(hypotheses.size() == reference.size(), "alignment_error", "{} lines for {} of the reference", hypotheses.size(),
        reference.size());
  int64_t found = 0, sure = 0, found_sure = 0, found_possible = 0;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const Line a = read_line(hypotheses[i], "hypotheses", i + 1), r = read_line(reference[i], "reference", i + 1);
    found += std::ssize(a.all);
    sure += std::ssize(r.sure);
    found_sure += common(a.all, r.sure);
    found_possible += common(a.all, r.all);
  }
  AlignmentError e;
  e.score = 100 - percent(found_sure + found_possible, found + sure);
  e.precision = percent(found_possible, found);
  e.recall = percent(found_sure, sure);
  e.links = found;
  e.signature = fmt::format("links:words|version:attune.{}", version());
  return e;
}

}  // namespace attune
