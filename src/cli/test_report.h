// What `attune test` tells beside the scores: tables of labels, what was taken for what, the best and the worst lines.
#pragma once
#include <string>

#include "attune/test.h"
#include "cli/output.h"

namespace attune::cli {

/// For people: at most 25 labels, eight confusions, three lines each; what is left out is counted. "" where there is
/// nothing but scores.
std::string report_text(const TestReport& report);
/// For programs: labels, macro, weighted, confusions (at most 100), spans, heads, best, worst, files.
Record report_record(const TestReport& report);

}  // namespace attune::cli
