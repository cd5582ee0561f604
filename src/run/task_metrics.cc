#include "run/task_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "measure/metric.h"

namespace attune {

namespace {

/// "B-PER": the begin of a span.
bool has_spans(const std::vector<std::string>& labels) {
  return std::any_of(labels.begin(), labels.end(),
                     [](const std::string& line) { return line.starts_with("B-") || line.find(" B-") != line.npos; });
}

std::vector<std::string> usual_metrics(const Recipe& recipe, const std::string& head,
                                       const std::vector<std::string>& targets) {
  if (!gives_answers(recipe.task)) return {"bleu", "exact"};
  std::vector<std::string> names = metrics_of_head(head);
  if (names.back() == "span-f1" && (reads_rows(recipe.task) || !has_spans(targets))) names.pop_back();
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

/// The answers of one of several heads.
std::vector<std::string> part_of(const std::vector<std::string>& lines, size_t head) {
  std::vector<std::string> all;
  for (const std::string& line : lines) {
    std::vector<std::string> parts = split(line, '\t');
    all.push_back(head < parts.size() ? std::move(parts[head]) : "");
  }
  return all;
}

std::vector<MetricResult> judge_head(const std::vector<std::string>& texts, const std::vector<std::string>& targets,
                                     const Recipe& recipe, size_t head, int threads) {
  std::vector<std::string> names = usual_metrics(recipe, kinds_of_head(recipe.model.head)[head], targets);
  const std::string& metric = recipe.train.metric;
  const std::vector<std::string> known = metric_names();
  if (head == 0 && std::count(names.begin(), names.end(), metric) == 0 &&
      std::count(known.begin(), known.end(), metric) > 0)
    names.push_back(metric);
  std::vector<MetricResult> results;
  for (const std::string& name : names) {
    MetricOptions options = options_for(name, recipe);
    options.threads = threads;
    results.push_back(measure(name, texts, {targets}, options));
    if (head == 0) continue;
    results.back().name = fmt::format("{}:{}", head + 1, name);
    results.back().text = fmt::format("{}: {}", head + 1, results.back().text);
  }
  return results;
}

}  // namespace

std::vector<MetricResult> judge_texts(const std::vector<std::string>& texts, const std::vector<std::string>& targets,
                                      const Recipe& recipe, int threads) {
  const size_t heads = gives_answers(recipe.task) ? kinds_of_head(recipe.model.head).size() : 1;
  if (heads == 1) return judge_head(texts, targets, recipe, 0, threads);
  std::vector<MetricResult> all;
  for (size_t h = 0; h < heads; ++h)
    for (MetricResult& r : judge_head(part_of(texts, h), part_of(targets, h), recipe, h, threads))
      all.push_back(std::move(r));
  return all;
}

std::vector<LabelReport> label_reports(const AnsweredLines& lines, const Recipe& recipe) {
  using Of = LabelReport::Of;
  std::vector<LabelReport> all;
  if (!gives_answers(recipe.task)) return all;
  const std::vector<std::string> heads = kinds_of_head(recipe.model.head);
  for (size_t h = 0; h < heads.size(); ++h) {
    const bool several = heads.size() > 1;
    const std::vector<std::string> right = several ? part_of(lines.right, h) : lines.right,
                                   said = several ? part_of(lines.said, h) : lines.said;
    const auto add = [&](Of of) {
      all.push_back(label_report(of, {lines.sources, right, said}));
      all.back().head = static_cast<int>(h);
    };
    if (heads[h] == "label") add(Of::lines);
    if (heads[h] == "labels") add(Of::sets);
    if (heads[h] != "tags") continue;
    if (!reads_rows(recipe.task) && has_spans(right)) add(Of::spans);
    add(Of::words);
  }
  return all;
}

UnseenLabels unseen_labels(const std::vector<LabelReport>& reports, const text::Labels& known, const Recipe& recipe) {
  const bool several = kinds_of_head(recipe.model.head).size() > 1;
  UnseenLabels unseen;
  for (const LabelReport& r : reports) {
    if (r.of == LabelReport::Of::spans) continue;  // their labels were looked at as those of words
    for (const LabelScore& s : r.labels) {
      unseen.of += s.count;
      const std::string name = several ? fmt::format("{}:{}", r.head + 1, s.label) : s.label;
      if (s.count == 0 || known.number(name) != text::Labels::kUnseen) continue;
      if (unseen.first.empty()) unseen.first = s.label;
      ++unseen.labels;
      unseen.answers += s.count;
    }
  }
  return unseen;
}

UnseenLabels unseen_labels(const std::vector<std::string>& answers, const text::Labels& known, const Recipe& recipe) {
  const std::vector<std::string> nothing(answers.size());
  return unseen_labels(label_reports({nothing, answers, answers}, recipe), known, recipe);
}

std::string UnseenLabels::sentence(const char* data) const {
  if (labels == 0) return "";
  return fmt::format("{} label{} of the {} data ({}{}) {} not in the training data: {} answer{} can't be right",
                     thousands(labels), labels == 1 ? "" : "s", data, in_quotes(shown_name(first)),
                     labels == 1 ? "" : ", ...", labels == 1 ? "is" : "are", thousands(answers),
                     answers == 1 ? "" : "s");
}

std::vector<double> numbers_of(const std::vector<std::string>& lines, const Recipe& recipe) {
  std::vector<double> all;
  const std::vector<std::string> heads = kinds_of_head(recipe.model.head);
  const auto at = std::find(heads.begin(), heads.end(), "number");
  if (!gives_answers(recipe.task) || at == heads.end()) return all;
  const auto head = static_cast<size_t>(at - heads.begin());
  for (const std::string& text : heads.size() > 1 ? part_of(lines, head) : lines) {
    all.push_back(0);
    const std::string_view number = trim(text);
    std::from_chars(number.data(), number.data() + number.size(), all.back());
  }
  return all;
}

}  // namespace attune
