#include "cli/test_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "attune/text.h"

namespace attune::cli {

namespace {

using Of = LabelReport::Of;
constexpr size_t kLabelsShown = 25, kConfusionsShown = 8, kConfusionsWritten = 100, kLinesShown = 3;
constexpr int kLabelColumns = 32, kExampleColumns = 64, kLineColumns = 120;

std::string percent_text(double x) { return fmt::format("{:.2f}", x); }

std::vector<std::string> score_row(const std::string& name, const LabelScore& s) {
  return {fit_columns(name, kLabelColumns), percent_text(s.precision), percent_text(s.recall), percent_text(s.f1),
          thousands(s.count)};
}

/// "and 12 more labels (--json has all)".
std::string rest_text(size_t all, size_t shown, const char* what) {
  if (all <= shown) return "";
  return fmt::format("and {} more {} (--json and --report have them)\n", thousands(static_cast<int64_t>(all - shown)),
                     what);
}

std::string label_table(const LabelReport& r) {
  const char* what = r.of == Of::spans ? "span" : r.of == Of::words ? "label of words" : "label";
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(r.labels.size(), kLabelsShown); ++i)
    rows.push_back(score_row(r.labels[i].label, r.labels[i]));
  const std::string rest = rest_text(r.labels.size(), kLabelsShown, r.of == Of::spans ? "types of spans" : "labels");
  if (r.of == Of::spans || r.of == Of::sets) rows.push_back(score_row("all as one", r.micro));
  if (r.of != Of::spans) {
    rows.push_back(score_row("macro average", r.macro));
    rows.push_back(score_row("weighted average", r.weighted));
  }
  const std::string head = r.head > 0 ? fmt::format("{}: {}", r.head + 1, what) : what;
  return table({head, "precision", "recall", "F1", "support"}, rows) + rest;
}

std::string confusion_table(const LabelReport& r) {
  if (r.confusions.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(r.confusions.size(), kConfusionsShown); ++i) {
    const Confusion& c = r.confusions[i];
    rows.push_back({fit_columns(c.label, kLabelColumns), fit_columns(c.given, kLabelColumns), thousands(c.count),
                    c.share > 0 ? percent_text(c.share) + " %" : "", fit_columns(c.example, kExampleColumns)});
  }
  return "\n" + table({r.of == Of::spans ? "span" : "label", "taken for", "times", "of it", "for example"}, rows) +
         rest_text(r.confusions.size(), kConfusionsShown, "such pairs");
}

std::string line_text(const TestReport& r, size_t which) {
  const TestedLine& l = r.tested[which];
  const auto field = [](const char* name, const std::string& text) {
    return fmt::format("  {:<12}{}\n", name, fit_columns(text, kLineColumns));
  };
  if (r.line_metric == "nats") return fmt::format("  {:>8.2f}  {}\n", l.score, fit_columns(l.source, kLineColumns));
  const bool number = r.line_metric == "distance";
  return fmt::format("  {:.2f}\n", l.score) + field("source", l.source) + field("reference", l.reference) +
         field(number ? "given" : "translation", l.translation);
}

std::string ranked_lines(const TestReport& r) {
  std::string out;
  const auto add = [&](const std::string& title, const std::vector<size_t>& lines) {
    if (lines.empty()) return;
    out += "\n" + title + "\n";
    for (size_t i = 0; i < std::min(lines.size(), kLinesShown); ++i) out += line_text(r, lines[i]);
  };
  if (r.line_metric == "nats") add("the most surprising lines (nats a token, each line by itself)", r.worst);
  if (r.line_metric == "distance") add("the numbers that are farthest off", r.worst);
  if (r.line_metric == "chrf") {
    add("the best lines, by chrF of each line", r.best);
    add("the worst lines, by chrF of each line", r.worst);
  }
  return out;
}

Record record_of(const LabelScore& s) {
  return {{"precision", rounded(s.precision, 6)}, {"recall", rounded(s.recall, 6)}, {"f1", rounded(s.f1, 6)}};
}

Record record_of(const LabelReport& r) {
  List labels, confusions;
  for (const LabelScore& s : r.labels) {
    Record one{{"label", s.label}};
    for (auto& field : record_of(s)) one.push_back(std::move(field));
    one.emplace_back("support", s.count);
    one.emplace_back("found", s.found);
    labels.emplace_back(one);
  }
  for (size_t i = 0; i < std::min(r.confusions.size(), kConfusionsWritten); ++i) {
    const Confusion& c = r.confusions[i];
    confusions.emplace_back(Record{{"label", c.label},
                                   {"given", c.given},
                                   {"count", c.count},
                                   {"share", rounded(c.share, 6)},
                                   {"example", c.example}});
  }
  return {{"labels", labels},
          {"macro", record_of(r.macro)},
          {"weighted", record_of(r.weighted)},
          {"micro", record_of(r.micro)},
          {"confusions", confusions}};
}

List lines_of(const TestReport& r, const std::vector<size_t>& which) {
  List all;
  for (size_t i = 0; i < std::min(which.size(), kLinesShown); ++i) {
    const TestedLine& l = r.tested[which[i]];
    if (r.line_metric == "nats") {
      all.emplace_back(Record{{"nats", l.score}, {"text", l.source}});
      continue;
    }
    const char* said = r.line_metric == "distance" ? "given" : "translation";
    all.emplace_back(
        Record{{r.line_metric, l.score}, {"source", l.source}, {"reference", l.reference}, {said, l.translation}});
  }
  return all;
}

}  // namespace

std::string report_text(const TestReport& report) {
  std::string out;
  if (!report.files.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const TestedFile& f : report.files)
      rows.push_back({f.file, fmt::format("{:.4f}", f.perplexity), thousands(f.tokens)});
    out += "\n" + table({"file", "perplexity", "tokens"}, rows);
  }
  for (const LabelReport& r : report.labels) out += "\n" + label_table(r) + confusion_table(r);
  return out + ranked_lines(report);
}

Record report_record(const TestReport& report) {
  Record out;
  List heads, files;
  bool first = true;
  for (const LabelReport& r : report.labels) {
    Record one = record_of(r);
    if (r.of == Of::spans) {
      out.emplace_back("spans", one);
    } else if (first) {
      out.insert(out.end(), one.begin(), one.end());
      first = false;
    } else {
      one.insert(one.begin(), {"head", r.head + 1});
      heads.emplace_back(one);
    }
  }
  for (const TestedFile& f : report.files)
    files.emplace_back(Record{{"file", f.file}, {"perplexity", f.perplexity}, {"tokens", f.tokens}});
  if (!heads.empty()) out.emplace_back("heads", heads);
  if (!files.empty()) out.emplace_back("files", files);
  if (!report.best.empty()) out.emplace_back("best", lines_of(report, report.best));
  if (!report.worst.empty()) out.emplace_back("worst", lines_of(report, report.worst));
  return out;
}

}  // namespace attune::cli
