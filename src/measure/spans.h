// Precision, recall and F1 of spans marked by tags (B-PER I-PER O ...), as conlleval counts them for the tasks of CoNLL
// and seqeval's default mode does: a span is right when its type, its beginning and its end are.
#pragma once
#include "measure/labels.h"

namespace attune {

struct LabelSpan {
  std::string_view type;  // "_" for a tag without one
  int64_t first = 0, last = 0;
  auto operator<=>(const LabelSpan&) const = default;
};

/// The spans of a sentence, in order. BIO (a span that begins with I- is one too), IOB2, BIOES: E- and S- end one.
std::vector<LabelSpan> tagged_spans(const std::vector<std::string_view>& tags);

class SpanMetric : public Metric {
 public:
  static constexpr MetricKind kKind{
      .name = "span-f1",
      .sentence = "F1 of spans tagged B-PER I-PER O ... (BIO, IOB2, BIOES), as conlleval and seqeval count them",
      .formula = "2 P R / (P + R), P = right spans / spans found, R = right spans / spans there",
      .cite = "Tjong Kim Sang and Buchholz 2000, \"Introduction to the CoNLL-2000 shared task: chunking\"",
      .one_reference = true};
  struct Options {
    LabelFormat::Layout format = LabelFormat::Layout::lines;
    template <class V>
    void fields(V& v) {
      v("format", format, "conll: a word a line, its tag in the last column, an empty line between sentences",
        one_of({"lines", "conll"}));
    }
  };
  explicit SpanMetric(const Options& options) : options_(options) {}

  MetricTextLines arranged(const MetricTextLines& lines) const override;
  void look_at(const MetricTextLines& lines) override;
  size_t width() const override { return 2 + 3 * counts_.size(); }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return "spans:conll|average:micro"; }

 private:
  LabelScore all(const std::vector<LabelScore>& types) const;
  Options options_;
  LabelCounts counts_;
};

}  // namespace attune
