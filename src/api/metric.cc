#include "attune/metric.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "data/line_reader.h"
#include "measure/alignment_error.h"
#include "measure/bleu.h"
#include "measure/exact_match.h"

namespace attune {

namespace {

using Lines = std::vector<std::string>;

MetricResult measure_bleu(const Lines& hypotheses, const std::vector<Lines>& references, const MetricOptions& given) {
  BleuOptions options;
  if (!given.tokenize.empty()) set_field(options, "tokenize", std::string_view(given.tokenize), ErrorKind::usage);
  if (!given.smooth.empty()) set_field(options, "smooth", std::string_view(given.smooth), ErrorKind::usage);
  options.lowercase = given.lowercase;
  const Bleu b = bleu(hypotheses, references, options);
  MetricResult r{"bleu", b.score, b.signature, "BLEU = " + b.text(), {}};
  for (size_t n = 0; n < Bleu::kOrders; ++n)
    r.details.emplace_back(fmt::format("precision_{}", n + 1), b.precisions[n]);
  r.details.emplace_back("brevity_penalty", b.brevity_penalty);
  r.details.emplace_back("hypothesis_length", b.hypothesis_length);
  r.details.emplace_back("reference_length", b.reference_length);
  return r;
}

MetricResult measure_exact(const Lines& hypotheses, const std::vector<Lines>& references, const MetricOptions& given) {
  for (const auto& [option, value] : {std::pair{"tokenize", given.tokenize}, {"smooth", given.smooth}})
    if (!value.empty())
      fail(ErrorKind::usage, "exact compares whole lines: it has no {}\n  fix: leave --{} out", option, option);
  const ExactMatch e = exact_match(hypotheses, references, given.lowercase);
  return {"exact",
          e.score,
          e.signature,
          fmt::format("exact match = {:.2f} % ({} of {} lines)", e.score, thousands(e.right), thousands(e.lines)),
          {{"right", static_cast<double>(e.right)}, {"lines", static_cast<double>(e.lines)}}};
}

MetricResult measure_aer(const Lines& hypotheses, const std::vector<Lines>& references, const MetricOptions& given) {
  for (const auto& [option, is_there] : {std::pair{"tokenize", !given.tokenize.empty()},
                                         {"smooth", !given.smooth.empty()},
                                         {"lowercase", given.lowercase}})
    if (is_there)
      fail(ErrorKind::usage, "aer compares links of words: it has no {}\n  fix: leave --{} out", option, option);
  if (references.size() > 1)
    fail(ErrorKind::usage, "aer has one reference\n  fix: mark links that are merely possible in it: 1p2");
  const AlignmentError e = alignment_error(hypotheses, references[0]);
  return {"aer",
          e.score,
          e.signature,
          fmt::format("alignment error rate = {:.2f} % (precision {:.2f} %, recall {:.2f} %, {} links)", e.score,
                      e.precision, e.recall, thousands(e.links)),
          {{"precision", e.precision}, {"recall", e.recall}, {"links", static_cast<double>(e.links)}}};
}

struct Metric {
  const char* name;
  MetricResult (*measure)(const Lines&, const std::vector<Lines>&, const MetricOptions&);
};
constexpr Metric kMetrics[] = {{"bleu", measure_bleu}, {"exact", measure_exact}, {"aer", measure_aer}};

const Metric& find_metric(const std::string& name) {
  for (const Metric& m : kMetrics)
    if (m.name == name) return m;
  const std::string near = closest_name(name, metric_names());
  fail(ErrorKind::usage, "unknown metric '{}'. {}", name,
       near.empty() ? "Known: " + join(metric_names(), ", ") : "Did you mean '" + near + "'?");
}

}  // namespace

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& m : kMetrics) names.push_back(m.name);
  return names;
}

MetricResult measure(const std::string& name, const Lines& hypotheses, const std::vector<Lines>& references,
                     const MetricOptions& options) {
  return find_metric(name).measure(hypotheses, references, options);
}

MetricResult measure_files(const std::string& name, const std::string& hypotheses,
                           const std::vector<std::string>& references, const MetricOptions& options) {
  const Metric& metric = find_metric(name);
  if (references.empty()) fail(ErrorKind::usage, "no references\n  fix: name them by --ref FILE");
  if (std::count(references.begin(), references.end(), "-") + (hypotheses == "-") > 1)
    fail(ErrorKind::usage, "the standard input (-) can be read only once\n  fix: put one of the texts into a file");
  const auto shown = [](const std::string& file) { return file == "-" ? std::string("stdin") : file; };
  const Lines lines = read_lines(hypotheses);
  std::vector<Lines> others;
  for (const std::string& file : references) {
    others.push_back(read_lines(file));
    if (others.back().size() != lines.size())
      fail(ErrorKind::data, "{} has {} line{}, {} has {}\n  fix: a line must stand for a line: look for a lost one",
           shown(hypotheses), thousands(std::ssize(lines)), lines.size() == 1 ? "" : "s", shown(file),
           thousands(std::ssize(others.back())));
  }
  return metric.measure(lines, others, options);
}

}  // namespace attune
