#include "measure/labels.h"

#include "base/error.h"
#include "base/text.h"
#include "measure/words.h"

namespace attune {

MetricTextLines conll_labels(const MetricTextLines& lines) {
  MetricTextLines sentences;
  bool open = false;
  for (const std::string& line : lines) {
    const auto columns = split_words(line);
    if (columns.empty()) {
      open = false;
      continue;
    }
    if (!open) sentences.emplace_back();
    open = true;
    sentences.back().append(sentences.back().empty() ? "" : " ").append(columns.back());
  }
  return sentences;
}

std::vector<std::string_view> labels_of(std::string_view line, bool by_word) {
  if (by_word) return split_words(line);
  return {without_outer_blanks(line)};
}

LabelPair label_pair(const MetricLine& line, const LabelFormat& format) {
  LabelPair pair{labels_of(line.hypothesis, format.by_word()), labels_of(line.references[0], format.by_word())};
  if (pair.said.size() != pair.right.size())
    fail(ErrorKind::data, "{} {} has {} label{}, in the reference {}\n  fix: give every word one label",
         format.format == LabelFormat::Layout::conll ? "sentence" : "line", line.number, pair.said.size(),
         pair.said.size() == 1 ? "" : "s", pair.right.size());
  return pair;
}

LabelScore label_score(std::string label, double right, double said, double there) {
  LabelScore s;
  s.label = std::move(label);
  s.precision = percent(right, said);
  s.recall = percent(right, there);
  s.f1 = percent(2 * right, said + there);
  s.count = static_cast<int64_t>(there);
  s.found = static_cast<int64_t>(said);
  s.right = static_cast<int64_t>(right);
  return s;
}

void LabelCounts::settle(uint32_t first) {
  for (auto& [label, place] : places_) {
    place = first;
    first += 3;
  }
}

std::vector<LabelScore> LabelCounts::scores(std::span<const double> sums) const {
  std::vector<LabelScore> out;
  for (const auto& [label, place] : places_)
    if (sums[place + 1] + sums[place + 2] > 0)
      out.push_back(label_score(label, sums[place], sums[place + 1], sums[place + 2]));
  return out;
}

MetricTextLines AccuracyMetric::arranged(const MetricTextLines& lines) const {
  return options_.format == LabelFormat::Layout::conll ? conll_labels(lines) : lines;
}

void AccuracyMetric::count(const MetricLine& line, LineCounts& out) const {
  const LabelPair pair = label_pair(line, options_);
  double right = 0;
  for (size_t i = 0; i < pair.said.size(); ++i) right += pair.said[i] == pair.right[i] ? 1 : 0;
  out.emplace_back(0, right);
  out.emplace_back(1, std::ssize(pair.said));
}

void AccuracyMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  out.score = score(sums);
  out.text = fmt::format("accuracy = {:.2f} %{} ({} of {} labels)", out.score, interval,
                         thousands(static_cast<int64_t>(sums[0])), thousands(static_cast<int64_t>(sums[1])));
  out.details = {{"right", sums[0]}, {"labels", sums[1]}};
}

MetricTextLines LabelMetric::arranged(const MetricTextLines& lines) const {
  return options_.format == LabelFormat::Layout::conll ? conll_labels(lines) : lines;
}

void LabelMetric::look_at(const MetricTextLines& lines) {
  for (const std::string& line : lines)
    for (std::string_view label : labels_of(line, options_.by_word())) counts_.know(label);
  counts_.settle(0);
}

void LabelMetric::count(const MetricLine& line, LineCounts& out) const {
  const LabelPair pair = label_pair(line, options_);
  for (size_t i = 0; i < pair.said.size(); ++i) {
    const uint32_t said = counts_.place(pair.said[i]), right = counts_.place(pair.right[i]);
    if (said == right) out.emplace_back(said, 1);
    out.emplace_back(said + 1, 1);
    out.emplace_back(right + 2, 1);
  }
}

double LabelMetric::average(const std::vector<LabelScore>& scores, double LabelScore::*which, Average how) const {
  double sum = 0, weights = 0, right = 0, said = 0, there = 0;
  for (const LabelScore& s : scores) {
    const double weight = how == Average::weighted ? static_cast<double>(s.count) : 1;
    sum += weight * s.*which;
    weights += weight;
    right += static_cast<double>(s.right);
    said += static_cast<double>(s.found);
    there += static_cast<double>(s.count);
  }
  if (how == Average::micro) return label_score("", right, said, there).*which;
  return weights > 0 ? sum / weights : 0;
}

double LabelMetric::score(std::span<const double> sums) const {
  return average(counts_.scores(sums), &LabelScore::f1, options_.average);
}

void LabelMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  constexpr const char* kNames[] = {"macro", "micro", "weighted"};
  out.labels = counts_.scores(sums);
  out.score = average(out.labels, &LabelScore::f1, options_.average);
  const double precision = average(out.labels, &LabelScore::precision, options_.average);
  const double recall = average(out.labels, &LabelScore::recall, options_.average);
  out.text = fmt::format("{} F1 = {:.2f}{} (precision {:.2f} %, recall {:.2f} %, {} labels)",
                         kNames[static_cast<size_t>(options_.average)], out.score, interval, precision, recall,
                         thousands(std::ssize(out.labels)));
  out.details = {{"precision", precision}, {"recall", recall}};
  for (Average how : {Average::macro, Average::micro, Average::weighted})
    out.details.emplace_back(std::string(kNames[static_cast<size_t>(how)]) + "_f1",
                             average(out.labels, &LabelScore::f1, how));
}

std::string LabelMetric::signature() const {
  constexpr const char* kNames[] = {"macro", "micro", "weighted"};
  return fmt::format("labels:{}|average:{}", options_.by_word() ? "words" : "lines",
                     kNames[static_cast<size_t>(options_.average)]);
}

}  // namespace attune
