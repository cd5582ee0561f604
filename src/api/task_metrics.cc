#include "api/task_metrics.h"

#include <algorithm>

#include "measure/metric.h"

namespace attune {

namespace {

/// What of the settings a metric can be told.
MetricOptions options_for(const std::string& metric, const MetricSettings& settings) {
  const Fields& fields = metric_options()[find_metric(metric)];
  const auto has = [&](const char* name) {
    return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  };
  MetricOptions options;
  if (has("tokenize")) options.tokenize = settings.tokenize;
  options.lowercase = settings.lowercase && has("lowercase");
  return options;
}

}  // namespace

std::vector<MetricResult> judge_texts(const std::vector<std::string>& texts, const std::vector<std::string>& targets,
                                      const std::string& metric, const MetricSettings& settings, int threads) {
  std::vector<std::string> names{"bleu", "exact"};
  const std::vector<std::string> known = metric_names();
  if (std::count(names.begin(), names.end(), metric) == 0 && std::count(known.begin(), known.end(), metric) > 0)
    names.push_back(metric);
  std::vector<MetricResult> results;
  for (const std::string& name : names) {
    MetricOptions options = options_for(name, settings);
    options.threads = threads;
    results.push_back(measure(name, texts, {targets}, options));
  }
  return results;
}

}  // namespace attune
