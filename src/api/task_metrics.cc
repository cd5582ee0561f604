#include "api/task_metrics.h"

#include <algorithm>

#include "measure/metric.h"

namespace attune {

namespace {

/// "B-PER": the begin of a span.
bool has_spans(const std::vector<std::string>& labels) {
  return std::any_of(labels.begin(), labels.end(),
                     [](const std::string& line) { return line.starts_with("B-") || line.find(" B-") != line.npos; });
}

std::vector<std::string> usual_metrics(const Recipe& recipe, const std::vector<std::string>& targets) {
  if (!gives_answers(recipe.task)) return {"bleu", "exact"};
  std::vector<std::string> names = metrics_of_head(recipe.model.head.kind);
  if (names.back() == "span-f1" && !has_spans(targets)) names.pop_back();
  return names;
}

/// What of the settings a metric can be told.
MetricOptions options_for(const std::string& metric, const Recipe& recipe) {
  MetricSettings settings = recipe.train.metric_options;
  settings.lowercase |= recipe.data.lowercase;
  const Fields& fields = metric_options()[find_metric(metric)];
  const auto has = [&](const char* name) {
    return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  };
  MetricOptions options;
  if (has("tokenize")) options.tokenize = settings.tokenize;
  options.lowercase = settings.lowercase && has("lowercase");
  if (recipe.model.head.kind == "tags" && has("unit")) options.others.emplace_back("unit", "word");
  return options;
}

}  // namespace

std::vector<MetricResult> judge_texts(const std::vector<std::string>& texts, const std::vector<std::string>& targets,
                                      const Recipe& recipe, int threads) {
  std::vector<std::string> names = usual_metrics(recipe, targets);
  const std::string& metric = recipe.train.metric;
  const std::vector<std::string> known = metric_names();
  if (std::count(names.begin(), names.end(), metric) == 0 && std::count(known.begin(), known.end(), metric) > 0)
    names.push_back(metric);
  std::vector<MetricResult> results;
  for (const std::string& name : names) {
    MetricOptions options = options_for(name, recipe);
    options.threads = threads;
    results.push_back(measure(name, texts, {targets}, options));
  }
  return results;
}

}  // namespace attune
