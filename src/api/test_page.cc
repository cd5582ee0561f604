// The page of a test: one file that needs nothing else, with no scripts.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "attune/test.h"
#include "attune/version.h"
#include "base/files.h"
#include "base/text.h"
#include "measure/label_report.h"
#include "show/html.h"

namespace attune {

namespace {

using Of = LabelReport::Of;
constexpr size_t kLabelRows = 200, kMatrixLabels = 20, kConfusionRows = 50;

constexpr const char* kTestStyle =
    R"(:root{--bar:#d5e8f5}@media (prefers-color-scheme:dark){:root{--bar:#1f4256}}
td:first-child,tr.sum td{font-weight:600}
td.bar{background:linear-gradient(var(--bar),var(--bar)) no-repeat 4px 50%/calc((100% - 8px)*var(--p)) 64%;min-width:78px}
table.matrix{width:auto;min-width:0;border-collapse:collapse}
table.matrix th,table.matrix td{padding:4px 7px;border:1px solid var(--edge)}
table.matrix thead th{vertical-align:bottom;text-align:left}
table.matrix thead th span{writing-mode:vertical-rl;transform:rotate(180deg);max-height:180px;overflow:hidden;white-space:nowrap}
table.matrix th.row{text-align:right;color:var(--text);max-width:150px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
table.matrix td{text-align:right;font-weight:400}
td.right{background:rgb(0 103 163/var(--s))}td.wrong{background:rgb(196 74 0/var(--s))}
td.strong{color:#fff}
td.text{min-width:220px;overflow-wrap:anywhere}
ol.lines{list-style:none;margin:0;padding:0;display:grid;gap:14px}
ol.lines li{border-left:3px solid var(--edge);padding-left:12px}
ol.lines dl{grid-template-columns:max-content minmax(0,1fr)}
.score{font-variant-numeric:tabular-nums;font-weight:600}
@media (max-width:640px){ol.lines dl{grid-template-columns:1fr}th,td{padding:6px 5px}td.bar{min-width:48px}
.scroll .scores td:first-child,.scroll .scores th:first-child{min-width:0;max-width:30vw}
.scroll .matrix th:first-child{min-width:0;max-width:112px;white-space:nowrap}
table.mistakes thead{display:none}table.mistakes tr{display:grid;grid-template-columns:1fr 1fr auto auto;
border-bottom:1px solid var(--edge)}table.mistakes td{border:0}table.mistakes td.text{grid-column:1/-1;color:var(--soft);padding-top:0}
.scroll .mistakes td:first-child{position:static;min-width:0;max-width:none}}
)";

std::string score_cards(const TestReport& r) {
  std::string out;
  for (const MetricResult& m : r.scores)
    out += fmt::format("<div class=\"card\"><span>{}</span><b>{:.2f}</b><span>{}</span></div>\n", show::escaped(m.name),
                       m.score, show::escaped(m.text));
  return "<div class=\"cards\">\n" + out + "</div>\n";
}

std::string in_scroll(const std::string& inside, const char* kind = "") {
  return fmt::format("<div class=\"scroll\">\n<table{}>\n{}</tbody>\n</table>\n</div>\n", kind, inside);
}

std::string left_out(size_t all, size_t shown, const char* what) {
  if (all <= shown) return "";
  return fmt::format("<p class=\"soft\">and {} more {}</p>\n", thousands(static_cast<int64_t>(all - shown)), what);
}

std::string score_row(const std::string& name, const LabelScore& s, bool sum) {
  const auto bar = [](double x) {
    return fmt::format("<td class=\"n bar\" style=\"--p:{:.3f}\">{:.1f}</td>", x / 100, x);
  };
  return fmt::format("<tr{}><td>{}</td>{}{}{}<td class=\"n\">{}</td></tr>\n", sum ? " class=\"sum\"" : "",
                     show::label(name, 40), bar(s.precision), bar(s.recall), bar(s.f1), thousands(s.count));
}

std::string score_table(const LabelReport& r) {
  std::string out = fmt::format(
      "<thead><tr><th>{}</th><th class=\"n\">precision</th><th class=\"n\">recall</th><th class=\"n\">F1</th>"
      "<th class=\"n\">support</th></tr></thead>\n<tbody>\n",
      r.of == Of::spans ? "span" : "label");
  for (size_t i = 0; i < std::min(r.labels.size(), kLabelRows); ++i)
    out += score_row(r.labels[i].label, r.labels[i], false);
  if (r.of == Of::spans || r.of == Of::sets) out += score_row("all as one", r.micro, true);
  if (r.of != Of::spans) {
    out += score_row("macro average", r.macro, true);
    out += score_row("weighted average", r.weighted, true);
  }
  return in_scroll(out, " class=\"scores\"") + left_out(r.labels.size(), kLabelRows, "labels");
}

constexpr const char* kOtherWordsColumn = "(other words)";

/// Rows are what is right, columns what was given; labels beyond the most frequent ones are one.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(const LabelReport& r) {
    for (const LabelScore& s : r.labels)
      if (names_.size() < kMatrixLabels) places_.emplace(s.label, add(s.label));
    if (r.labels.size() > kMatrixLabels) others_ = add("(others)");
    for (const LabelScore& s : r.labels) count(place(s.label), place(s.label), s.right);
    for (const Confusion& c : r.confusions) {
      const size_t row = place(c.label), column = place(c.given.ends_with(kOtherWords) ? kOtherWordsColumn : c.given);
      count(row, row == column ? another() : column, c.count);  // one of the others, taken for another of them
    }
  }

  std::string table() const {
    std::string out = "<thead><tr><th></th>";
    for (const size_t c : used(false)) out += "<th><span>" + show::label(names_[c], 24) + "</span></th>";
    out += "</tr></thead>\n<tbody>\n";
    for (const size_t r : used(true)) {
      out += "<tr><th class=\"row\">" + show::label(names_[r], 24) + "</th>";
      for (const size_t c : used(false)) out += cell(r, c);
      out += "</tr>\n";
    }
    return in_scroll(out, " class=\"matrix\"");
  }

 private:
  size_t add(const std::string& name) {
    names_.push_back(name);
    return names_.size() - 1;
  }
  size_t place(const std::string& name) {
    if (const auto at = places_.find(name); at != places_.end()) return at->second;
    if (name != kNoLabel && name != kOtherWordsColumn && others_ > 0) return others_;
    return places_.emplace(name, add(name)).first->second;
  }
  size_t another() {
    if (another_ == 0) another_ = add("(another)");
    return another_;
  }
  void count(size_t row, size_t column, int64_t times) {
    counts_[{row, column}] += times;
    rows_[row] += times;
    columns_[column] += times;
  }
  /// Those in which anything stands; a label that was never given has a column too.
  std::vector<size_t> used(bool rows) const {
    std::vector<size_t> all;
    const auto sum = [](const std::map<size_t, int64_t>& sums, size_t i) { return sums.contains(i) ? sums.at(i) : 0; };
    for (size_t i = 0; i < names_.size(); ++i)
      if ((rows ? 0 : sum(columns_, i)) + (rows || names_[i] != kNoLabel ? sum(rows_, i) : 0) > 0) all.push_back(i);
    return all;
  }
  std::string cell(size_t row, size_t column) const {
    const auto at = counts_.find({row, column});
    if (at == counts_.end() || at->second == 0) return "<td></td>";
    const double share = static_cast<double>(at->second) / static_cast<double>(rows_.at(row));
    // Colours begin where they can be seen and end where numbers still can be read.
    return fmt::format("<td class=\"{}{}\" style=\"--s:{:.2f}\" title=\"{:.1f} %\">{}</td>",
                       row == column ? "right" : "wrong", share > 0.7 ? " strong" : "", 0.08 + 0.82 * share,
                       100 * share, thousands(at->second));
  }

  std::vector<std::string> names_;
  std::map<std::string, size_t> places_;
  size_t others_ = 0, another_ = 0;  // 0: there are none, the first place is a label's
  std::map<std::pair<size_t, size_t>, int64_t> counts_;
  std::map<size_t, int64_t> rows_, columns_;
};

std::string confusion_table(const LabelReport& r) {
  if (r.confusions.empty()) return "";
  std::string out =
      "<thead><tr><th>right</th><th>taken for</th><th class=\"n\">times</th><th class=\"n\">of it</th>"
      "<th>for example</th></tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < std::min(r.confusions.size(), kConfusionRows); ++i) {
    const Confusion& c = r.confusions[i];
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"text\">{}</td></tr>\n",
        show::label(c.label, 40), show::label(c.given, 40), thousands(c.count),
        c.share > 0 ? fmt::format("{:.1f} %", c.share) : "", show::label(c.example, 300));
  }
  return in_scroll(out, " class=\"mistakes\"") + left_out(r.confusions.size(), kConfusionRows, "such pairs");
}

std::string label_sections(const TestReport& report) {
  std::string out;
  for (const LabelReport& r : report.labels) {
    const std::string head = r.head > 0 ? fmt::format(", head {}", r.head + 1) : "";
    const bool spans = r.of == Of::spans;
    out += show::section((spans               ? "Spans"
                          : r.of == Of::words ? "Labels of words"
                                              : "Labels") +
                             head,
                         spans ? "A span is right when its type, its first and its last word are."
                               : "Precision: of those that were given, the share that is right. Recall: of those that "
                                 "are there, the share that was found.",
                         score_table(r));
    if (r.labels.size() > 1 || !r.confusions.empty())
      out += show::section(
          "What was taken for what" + head,
          "Each row is what is right, each column what was given; the darker, the larger its share of the row.",
          ConfusionMatrix(r).table());
    out += show::section("Mistakes" + head, "The most frequent first, each with the first of its kind.",
                         confusion_table(r));
  }
  return out;
}

std::string ranked_list(const TestReport& r, const std::vector<size_t>& which) {
  std::string out;
  for (const size_t i : which) {
    const TestedLine& l = r.tested[i];
    const auto field = [](const char* name, const std::string& text) {
      return fmt::format("<dt>{}</dt><dd dir=\"auto\">{}</dd>\n", name, show::label(text, 2000));
    };
    std::string fields = field(r.line_metric == "nats" ? "text" : "source", l.source);
    if (r.line_metric != "nats")
      fields +=
          field("reference", l.reference) + field(r.line_metric == "distance" ? "given" : "translation", l.translation);
    out += fmt::format("<li><span class=\"score\">{:.2f}</span>\n<dl>\n{}</dl></li>\n", l.score, fields);
  }
  return out.empty() ? "" : "<ol class=\"lines\">\n" + out + "</ol>\n";
}

std::string line_sections(const TestReport& r) {
  constexpr const char* kByChrf = "By chrF of each line by itself, from 0 to 100.";
  const std::string worst = ranked_list(r, r.worst);
  if (r.line_metric == "chrf")
    return show::section("The worst lines", kByChrf, worst) +
           show::section("The best lines", kByChrf, ranked_list(r, r.best));
  if (r.line_metric == "distance")
    return show::section("Farthest off", "Numbers by their distance from the right ones.", worst);
  return show::section("Surprising lines", "Nats a token, each line read by itself; of the first few thousand.", worst);
}

std::string file_table(const TestReport& r) {
  if (r.files.empty()) return "";
  std::string out =
      "<thead><tr><th>file</th><th class=\"n\">perplexity</th><th class=\"n\">tokens</th></tr></thead>\n<tbody>\n";
  for (const TestedFile& f : r.files)
    out += fmt::format("<tr><td>{}</td><td class=\"n\">{:.4f}</td><td class=\"n\">{}</td></tr>\n",
                       show::label(f.file, 0), f.perplexity, thousands(f.tokens));
  return in_scroll(out);
}

std::string how_it_was_measured(const TestReport& r) {
  std::string out = "<dl>\n";
  const auto line = [&](const std::string& name, const std::string& text) {
    out += "<dt>" + show::escaped(name) + "</dt><dd>" + show::label(text, 0) + "</dd>\n";
  };
  for (const MetricResult& m : r.scores) line(m.name, m.signature);
  line("program", std::string("attune ") + version());
  for (const std::string& note : r.notes) line("note", note);
  return out + "</dl>\n";
}

}  // namespace

std::string test_page(const TestReport& r) {
  const std::string size = r.tokens > 0 ? fmt::format("{} tokens of {} lines", thousands(r.tokens), thousands(r.lines))
                           : r.task == "image" ? fmt::format("{} pictures", thousands(r.lines))
                                               : fmt::format("{} lines", thousands(r.lines));
  const std::string body = "<h1>" + show::label(r.model, 100) + "</h1>\n<p class=\"soft\">" +
                           show::escaped(fmt::format("Task: {}; {}, in {:.1f} s.", r.task, size, r.seconds)) +
                           "</p>\n" + score_cards(r) + show::section("Files", "", file_table(r)) + label_sections(r) +
                           line_sections(r) + show::section("How it was measured", "", how_it_was_measured(r));
  return show::page_of({.title = r.model + " tested", .style = kTestStyle, .body = body});
}

void write_test_page(const TestReport& report, const std::string& file) { write_drawing(file, test_page(report)); }

}  // namespace attune
