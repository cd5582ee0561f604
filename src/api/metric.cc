#include "attune/metric.h"

#include <algorithm>
#include <cmath>

#include "attune/version.h"
#include "base/error.h"
#include "base/text.h"
#include "data/files/line_reader.h"
#include "measure/metric.h"
#include "measure/resample.h"

namespace attune {

namespace {

using Lines = std::vector<std::string>;

MetricChoices choices_of(const MetricOptions& options) {
  MetricChoices choices = options.others;
  if (!options.tokenize.empty()) choices.emplace_back("tokenize", options.tokenize);
  if (!options.smooth.empty()) choices.emplace_back("smooth", options.smooth);
  if (options.lowercase) choices.emplace_back("lowercase", "true");
  return choices;
}

constexpr const char* kEffectiveOrder = "effective_order";

enum class Paired { no, bootstrap, randomization };

Paired paired_of(const MetricTests& tests, size_t systems) {
  if (tests.samples < 0 || tests.samples > 10'000'000)
    fail(ErrorKind::usage, "samples = {} is out of range: 1 to 10,000,000", tests.samples);
  if (tests.paired.empty()) return Paired::no;
  if (systems < 2)
    fail(ErrorKind::usage,
         "a paired test compares systems, and there is one\n  fix: name the baseline, then the others");
  if (tests.paired == "bootstrap") return Paired::bootstrap;
  if (tests.paired == "randomization") return Paired::randomization;
  fail(ErrorKind::usage, "paired = '{}' is not known: bootstrap | randomization", tests.paired);
}

/// A metric with options on texts that belong together.
class Measurement {
 public:
  Measurement(const std::string& name, const std::vector<Lines>& systems, const std::vector<Lines>& references,
              const MetricOptions& options)
      : kind_(metric_kinds()[find_metric(name)]),
        metric_(make_metric(find_metric(name), choices_of(options))),
        references_(references.size()) {
    if (references.empty()) fail(ErrorKind::usage, "no references\n  fix: name them by --ref FILE");
    if (kind_.one_reference && references.size() > 1)
      fail(ErrorKind::usage, "{} has one reference, not {}\n  fix: name one by --ref", name, references.size());
    std::vector<Lines> others;
    for (const Lines& r : references) others.push_back(metric_->arranged(r));
    std::vector<Lines> ours;
    for (const Lines& s : systems) ours.push_back(metric_->arranged(s));
    for (const auto* texts : {&others, &ours})
      for (const Lines& lines : *texts) metric_->look_at(lines);
    ThreadPool pool(options.threads);
    for (const Lines& s : ours) statistics_.emplace_back(*metric_, s, others, &pool);
  }

  const LineStatistics& lines_of(size_t system) const { return statistics_[system]; }
  const Metric& metric() const { return *metric_; }

  /// `tests` is what the signature tells of them: "|bs:1000|seed:12345".
  MetricResult result(const std::vector<double>& sums, const std::optional<MetricConfidence>& confidence,
                      const std::string& tests) const {
    MetricResult r;
    r.name = kind_.name;
    r.confidence = confidence;
    const std::string interval =
        confidence ? fmt::format(" (μ = {:.2f} ± {:.2f})", confidence->mean, confidence->half) : "";
    metric_->describe(sums, interval, r);
    const std::string count = kind_.one_reference ? "" : fmt::format("nrefs:{}", references_);
    for (const std::string& part : {count, tests, metric_->signature(), std::string("version:attune.") + version()})
      if (!part.empty()) r.signature += (r.signature.empty() ? "" : "|") + part;
    return r;
  }

 private:
  const MetricKind& kind_;
  std::unique_ptr<Metric> metric_;
  size_t references_;
  std::vector<LineStatistics> statistics_;
};

}  // namespace

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricKind& k : metric_kinds()) names.push_back(k.name);
  return names;
}

std::vector<MetricDescription> describe_metrics() {
  std::vector<MetricDescription> all;
  for (size_t i = 0; i < metric_kinds().size(); ++i) {
    const MetricKind& k = metric_kinds()[i];
    MetricDescription d{k.name, k.sentence, k.formula, k.cite, k.less_is_better, {}};
    for (const Field& f : metric_options()[i])
      d.options.push_back(
          {f.name, f.rule.text(), text_of(f.get()), f.sentence, std::holds_alternative<bool*>(f.place)});
    all.push_back(std::move(d));
  }
  return all;
}

bool less_is_better(const std::string& metric) {
  if (metric == "loss" || metric == "perplexity") return true;
  const auto& kinds = metric_kinds();
  const auto k = std::find_if(kinds.begin(), kinds.end(), [&](const MetricKind& kind) { return metric == kind.name; });
  return k != kinds.end() && k->less_is_better;
}

MetricResult measure(const std::string& name, const Lines& hypotheses, const std::vector<Lines>& references,
                     const MetricOptions& options) {
  const Measurement m(name, {hypotheses}, references, options);
  return m.result(m.lines_of(0).sums(), {}, "");
}

std::vector<MetricResult> measure_systems(const std::string& name, const std::vector<Lines>& systems,
                                          const std::vector<Lines>& references, const MetricOptions& options,
                                          const MetricTests& tests) {
  const Paired paired = paired_of(tests, systems.size());
  const Measurement m(name, systems, references, options);
  const bool randomize = paired == Paired::randomization, draws = tests.confidence || paired == Paired::bootstrap;
  if ((draws || randomize) && (systems.empty() || m.lines_of(0).lines() == 0))
    fail(ErrorKind::data, "there are no lines to draw from\n  fix: leave the tests out");
  const int64_t samples = tests.samples > 0 && !randomize ? tests.samples : 1000;
  const int64_t trials = tests.samples > 0 ? tests.samples : 10000;
  std::string signed_tests;
  if (draws) signed_tests = fmt::format("bs:{}", samples);
  if (randomize) signed_tests += fmt::format("{}ar:{}", draws ? "|" : "", trials);
  if (draws || randomize) signed_tests += fmt::format("|seed:{}", tests.seed);

  std::vector<MetricResult> results;
  std::vector<double> base;
  for (size_t i = 0; i < systems.size(); ++i) {
    std::vector<double> scores;
    if (draws) scores = bootstrap_scores(m.metric(), m.lines_of(i), samples, tests.seed);
    std::optional<MetricConfidence> confidence;
    if (draws) confidence = confidence_of(scores);
    results.push_back(m.result(m.lines_of(i).sums(), confidence, signed_tests));
    if (i == 0) {
      base = std::move(scores);
    } else if (paired == Paired::bootstrap) {
      results[i].p_value = paired_bootstrap(base, scores, results[i].score - results[0].score);
    } else if (randomize) {
      results[i].p_value = paired_randomization(m.metric(), m.lines_of(0), m.lines_of(i), trials, tests.seed);
    }
  }
  return results;
}

std::vector<MetricResult> measure_lines(const std::string& name, const Lines& hypotheses,
                                        const std::vector<Lines>& references, const MetricOptions& options) {
  MetricOptions by_line = options;
  for (const Field& f : metric_options()[find_metric(name)])
    if (f.name == kEffectiveOrder) by_line.others.emplace_back(kEffectiveOrder, "true");
  const Measurement m(name, {hypotheses}, references, by_line);
  std::vector<MetricResult> results;
  for (int64_t i = 0; i < m.lines_of(0).lines(); ++i) results.push_back(m.result(m.lines_of(0).sums(i), {}, ""));
  return results;
}

void check_metric(const std::string& name, const MetricOptions& options) {
  make_metric(find_metric(name), choices_of(options));
}

MetricTexts read_metric_files(const std::vector<std::string>& systems, const std::vector<std::string>& references) {
  if (references.empty()) fail(ErrorKind::usage, "no references\n  fix: name them by --ref FILE");
  if (std::count(references.begin(), references.end(), "-") + std::count(systems.begin(), systems.end(), "-") > 1)
    fail(ErrorKind::usage, "the standard input (-) can be read only once\n  fix: put one of the texts into a file");
  const auto shown = [](const std::string& file) { return file == "-" ? std::string("stdin") : file; };
  MetricTexts texts;
  check(!systems.empty(), "metric", "no files");
  const auto read = [&](const std::string& file, std::vector<Lines>& into) {
    into.push_back(read_lines(file));
    const size_t wanted = texts.systems[0].size(), there = into.back().size();
    if (there != wanted)
      fail(ErrorKind::data, "{} has {} line{}, {} has {}\n  fix: a line must stand for a line: look for a lost one",
           shown(systems[0]), thousands(static_cast<int64_t>(wanted)), wanted == 1 ? "" : "s", shown(file),
           thousands(static_cast<int64_t>(there)));
  };
  for (const std::string& file : systems) read(file, texts.systems);
  for (const std::string& file : references) read(file, texts.references);
  if (texts.systems[0].empty())
    fail(ErrorKind::data, "{} is empty, and so is {}\n  fix: look whether what should write them failed",
         shown(systems[0]), shown(references[0]));
  return texts;
}

MetricResult measure_files(const std::string& name, const std::string& hypotheses,
                           const std::vector<std::string>& references, const MetricOptions& options) {
  check_metric(name, options);
  const MetricTexts texts = read_metric_files({hypotheses}, references);
  return measure(name, texts.systems[0], texts.references, options);
}

}  // namespace attune
