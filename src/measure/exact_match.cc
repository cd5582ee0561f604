#include "measure/exact_match.h"

#include <algorithm>

#include "attune/version.h"
#include "base/error.h"
#include "text/lower_case.h"

namespace attune {

ExactMatch exact_match(const std::vector<std::string>& hypotheses,
                       const std::vector<std::vector<std::string>>& references, bool lowercase) {
  check(!references.empty(), "exact_match", "no references");
  for (const auto& r : references)
    if (r.size() != hypotheses.size())
      fail(ErrorKind::data, "{} hypotheses, but {} references", hypotheses.size(), r.size());
  ExactMatch out;
  out.lines = std::ssize(hypotheses);
  for (size_t i = 0; i < hypotheses.size(); ++i)
    out.right += std::any_of(references.begin(), references.end(), [&](const auto& r) {
      return r[i] == hypotheses[i] || (lowercase && text::lower_case(r[i]) == text::lower_case(hypotheses[i]));
    });
  out.score = out.lines > 0 ? 100.0 * static_cast<double>(out.right) / static_cast<double>(out.lines) : 0.0;
  out.signature =
      fmt::format("nrefs:{}|case:{}|version:attune.{}", references.size(), lowercase ? "lc" : "mixed", version());
  return out;
}

}  // namespace attune
