#include "measure/spans.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "measure/words.h"
#include "text/utf8.h"

namespace attune {

namespace {

constexpr uint32_t kRightTags = 0, kTags = 1, kTypes = 2;

/// "B-PER" as 'B' and "PER"; what begins with no ASCII letter is of no kind that matters.
struct Tag {
  char kind = 'O';
  std::string_view type = {};
};

Tag read_tag(std::string_view tag) {
  const size_t first = text::first_character(tag).bytes;
  Tag t{first == 1 ? tag[0] : '?', tag.substr(first)};
  if (const size_t dash = t.type.find('-'); dash != std::string_view::npos) t.type.remove_prefix(dash + 1);
  if (t.type.empty()) t.type = "_";
  return t;
}

bool is_any(char c, const char* of) { return std::string_view(of).find(c) != std::string::npos; }

bool ends(const Tag& before, const Tag& now) {
  if (is_any(before.kind, "ES")) return true;
  if (is_any(before.kind, "BI") && is_any(now.kind, "BSO")) return true;
  return !is_any(before.kind, "O.") && before.type != now.type;
}

bool begins(const Tag& before, const Tag& now) {
  if (is_any(now.kind, "BS")) return true;
  if (is_any(before.kind, "ESO") && is_any(now.kind, "EI")) return true;
  return !is_any(now.kind, "O.") && before.type != now.type;
}

}  // namespace

std::vector<LabelSpan> tagged_spans(const std::vector<std::string_view>& tags) {
  std::vector<LabelSpan> spans;
  Tag before;
  int64_t first = 0;
  for (int64_t i = 0; i <= std::ssize(tags); ++i) {
    const Tag now = i < std::ssize(tags) ? read_tag(tags[static_cast<size_t>(i)]) : Tag{'O', "_"};
    if (ends(before, now)) spans.push_back({before.type, first, i - 1});
    if (begins(before, now)) first = i;
    before = now;
  }
  return spans;
}

MetricTextLines SpanMetric::arranged(const MetricTextLines& lines) const {
  return options_.format == LabelFormat::Layout::conll ? conll_labels(lines) : lines;
}

void SpanMetric::look_at(const MetricTextLines& lines) {
  for (const std::string& line : lines)
    for (const LabelSpan& span : tagged_spans(split_words(line))) counts_.know(span.type);
  counts_.settle(kTypes);
}

void SpanMetric::count(const MetricLine& line, LineCounts& out) const {
  const LabelPair tags = label_pair(line, {LabelFormat::Unit::word, options_.format});
  double right = 0;
  for (size_t i = 0; i < tags.said.size(); ++i) right += tags.said[i] == tags.right[i] ? 1 : 0;
  out.emplace_back(kRightTags, right);
  out.emplace_back(kTags, std::ssize(tags.said));
  std::vector<LabelSpan> said = tagged_spans(tags.said), there = tagged_spans(tags.right);
  for (const LabelSpan& s : said) out.emplace_back(counts_.place(s.type) + 1, 1);
  for (const LabelSpan& s : there) out.emplace_back(counts_.place(s.type) + 2, 1);
  std::sort(said.begin(), said.end());
  std::sort(there.begin(), there.end());
  std::vector<LabelSpan> both;
  std::set_intersection(said.begin(), said.end(), there.begin(), there.end(), std::back_inserter(both));
  for (const LabelSpan& s : both) out.emplace_back(counts_.place(s.type), 1);
}

LabelScore SpanMetric::all(const std::vector<LabelScore>& types) const {
  double right = 0, said = 0, there = 0;
  for (const LabelScore& t : types) {
    right += static_cast<double>(t.right);
    said += static_cast<double>(t.found);
    there += static_cast<double>(t.count);
  }
  return label_score("", right, said, there);
}

double SpanMetric::score(std::span<const double> sums) const { return all(counts_.scores(sums)).f1; }

void SpanMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  out.labels = counts_.scores(sums);
  const LabelScore s = all(out.labels);
  out.score = s.f1;
  out.text = fmt::format(
      "span F1 = {:.2f}{} (precision {:.2f} %, recall {:.2f} %; {} spans, {} found, {} right; tags {:.2f} % right)",
      s.f1, interval, s.precision, s.recall, thousands(s.count), thousands(s.found), thousands(s.right),
      percent(sums[kRightTags], sums[kTags]));
  out.details = {{"precision", s.precision},
                 {"recall", s.recall},
                 {"accuracy", percent(sums[kRightTags], sums[kTags])},
                 {"spans", static_cast<double>(s.count)},
                 {"found", static_cast<double>(s.found)},
                 {"right", static_cast<double>(s.right)}};
}

}  // namespace attune
