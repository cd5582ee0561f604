#include "measure/label_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "measure/labels.h"
#include "measure/spans.h"

namespace attune {

namespace {

/// A word among its neighbours: "lives in [Paris] with her".
std::string words_around(const std::vector<std::string_view>& words, size_t first, size_t last) {
  constexpr size_t kBeside = 4;
  const size_t from = first > kBeside ? first - kBeside : 0, end = std::min(words.size(), last + 1 + kBeside);
  std::string out = from > 0 ? "… " : "";
  for (size_t i = from; i < end; ++i) {
    if (i > from) out += ' ';
    if (i == first) out += '[';
    out += words[i];
    if (i == last) out += ']';
  }
  return out + (end < words.size() ? " …" : "");
}

class LabelTally {
 public:
  explicit LabelTally(const AnsweredLines& lines) : lines_(lines) {}

  void lines() {
    for (size_t i = 0; i < lines_.said.size(); ++i)
      answer(labels_of(lines_.right[i], false)[0], labels_of(lines_.said[i], false)[0],
             [&] { return lines_.sources[i]; });
  }

  void sets() {
    using Names = std::set<std::string_view>;
    for (size_t i = 0; i < lines_.said.size(); ++i) {
      const auto said = labels_of(lines_.said[i], true), right = labels_of(lines_.right[i], true);
      const Names given(said.begin(), said.end()), there(right.begin(), right.end());
      std::vector<std::string_view> missed, extra;
      std::set_difference(there.begin(), there.end(), given.begin(), given.end(), std::back_inserter(missed));
      std::set_difference(given.begin(), given.end(), there.begin(), there.end(), std::back_inserter(extra));
      for (const std::string_view l : there) count(l).there += 1;
      for (const std::string_view l : given) {
        count(l).said += 1;
        count(l).right += there.contains(l) ? 1 : 0;
      }
      const auto example = [&] { return lines_.sources[i]; };
      if (missed.size() == 1 && extra.size() == 1) {
        confuse(missed[0], extra[0], example);
        continue;
      }
      for (const std::string_view l : missed) confuse(l, kNoLabel, example);
      for (const std::string_view l : extra) confuse(kNoLabel, l, example);
    }
  }

  void words() {
    for (size_t i = 0; i < lines_.said.size(); ++i) {
      const LabelPair labels = pair_of(i);
      const auto texts = words_of_line(i, labels);
      for (size_t w = 0; w < labels.said.size(); ++w)
        answer(labels.right[w], labels.said[w],
               [&] { return texts.empty() ? lines_.sources[i] : words_around(texts, w, w); });
    }
  }

  void spans() {
    for (size_t i = 0; i < lines_.said.size(); ++i) {
      const LabelPair labels = pair_of(i);
      const std::vector<LabelSpan> said = tagged_spans(labels.said), there = tagged_spans(labels.right);
      const auto texts = words_of_line(i, labels);
      const auto example = [&](const LabelSpan& s) {
        return texts.empty() ? lines_.sources[i]
                             : words_around(texts, static_cast<size_t>(s.first), static_cast<size_t>(s.last));
      };
      for (const LabelSpan& s : said) count(s.type).said += 1;
      for (const LabelSpan& s : there) {
        count(s.type).there += 1;
        const LabelSpan* given = nearest(s, said);
        if (given && *given == s)
          count(s.type).right += 1;
        else
          confuse(s.type, instead_of(s, given), [&] { return example(s); });
      }
      for (const LabelSpan& s : said)
        if (!nearest(s, there)) confuse(kNoLabel, s.type, [&] { return example(s); });
    }
  }

  LabelReport report(LabelReport::Of of) const;

 private:
  struct Counts {
    double right = 0, said = 0, there = 0;
  };
  struct Confused {
    int64_t count = 0;
    std::string example;
  };

  LabelPair pair_of(size_t line) const {
    const std::string_view right = lines_.right[line];
    return label_pair({lines_.said[line], {&right, 1}, static_cast<int64_t>(line) + 1},
                      {LabelFormat::Unit::word, LabelFormat::Layout::lines});
  }
  /// None where they are not what the labels belong to.
  std::vector<std::string_view> words_of_line(size_t line, const LabelPair& labels) const {
    auto words = words_of(lines_.sources[line]);
    if (words.size() != labels.right.size()) words.clear();
    return words;
  }

  /// Which of them stands on the same words, or else on some of them.
  static const LabelSpan* nearest(const LabelSpan& span, const std::vector<LabelSpan>& all) {
    const LabelSpan* found = nullptr;
    for (const LabelSpan& s : all) {
      if (s.first == span.first && s.last == span.last) return &s;
      if (!found && s.first <= span.last && span.first <= s.last) found = &s;
    }
    return found;
  }
  static std::string instead_of(const LabelSpan& span, const LabelSpan* given) {
    if (!given) return kNoLabel;
    const bool same_words = given->first == span.first && given->last == span.last;
    return std::string(given->type) + (same_words ? "" : kOtherWords);
  }

  Counts& count(std::string_view label) {
    const auto at = counts_.find(label);
    return at != counts_.end() ? at->second : counts_.emplace(std::string(label), Counts{}).first->second;
  }
  template <class Example>
  void answer(std::string_view right, std::string_view said, Example example) {
    count(right).there += 1;
    count(said).said += 1;
    if (right == said)
      count(right).right += 1;
    else
      confuse(right, said, example);
  }
  template <class Example>
  void confuse(std::string_view label, std::string_view given, Example example) {
    Confused& c = confused_[{std::string(label), std::string(given)}];
    if (c.count++ == 0) c.example = example();
  }

  AnsweredLines lines_;
  std::map<std::string, Counts, std::less<>> counts_;
  std::map<std::pair<std::string, std::string>, Confused> confused_;
};

LabelReport LabelTally::report(LabelReport::Of of) const {
  LabelReport r;
  r.of = of;
  Counts all;
  double weight = 0;
  const auto add = [](LabelScore& to, const LabelScore& s, double times) {
    to.precision += times * s.precision;
    to.recall += times * s.recall;
    to.f1 += times * s.f1;
  };
  for (const auto& [label, c] : counts_) {
    r.labels.push_back(label_score(label, c.right, c.said, c.there));
    all.right += c.right;
    all.said += c.said;
    all.there += c.there;
    add(r.macro, r.labels.back(), 1.0 / static_cast<double>(counts_.size()));
    add(r.weighted, r.labels.back(), c.there);
    weight += c.there;
  }
  const LabelScore sums = r.weighted;
  r.micro = r.weighted = label_score("", all.right, all.said, all.there);  // for the counts, which all have
  r.weighted.precision = r.weighted.recall = r.weighted.f1 = 0;
  if (weight > 0) add(r.weighted, sums, 1 / weight);
  r.macro.count = r.micro.count;
  r.macro.found = r.micro.found;
  r.macro.right = r.micro.right;
  std::stable_sort(r.labels.begin(), r.labels.end(),
                   [](const LabelScore& a, const LabelScore& b) { return a.count > b.count; });
  for (const auto& [pair, c] : confused_) {
    const auto there = counts_.find(pair.first);
    r.confusions.push_back({pair.first, pair.second, c.count,
                            there == counts_.end() ? 0 : percent(static_cast<double>(c.count), there->second.there),
                            c.example});
  }
  std::stable_sort(r.confusions.begin(), r.confusions.end(),
                   [](const Confusion& a, const Confusion& b) { return a.count > b.count; });
  return r;
}

}  // namespace

LabelReport label_report(LabelReport::Of of, const AnsweredLines& lines) {
  LabelTally tally(lines);
  if (of == LabelReport::Of::lines) tally.lines();
  if (of == LabelReport::Of::sets) tally.sets();
  if (of == LabelReport::Of::words) tally.words();
  if (of == LabelReport::Of::spans) tally.spans();
  return tally.report(of);
}

}  // namespace attune
