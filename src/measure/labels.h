// Scores of labels, one a line (classification) or one a word (tagging): accuracy, and precision, recall and F1 of
// each.
#pragma once
#include <map>

#include "measure/metric.h"

namespace attune {

/// How labels stand in a file.
struct LabelFormat {
  enum class Unit { line, word } unit = Unit::line;
  enum class Layout { lines, conll } format = Layout::lines;

  template <class V>
  void fields(V& v) {
    v("unit", unit, "whether a line is one label or one for each word", one_of({"line", "word"}));
    v("format", format, "conll: a word a line, its label in the last column, an empty line between sentences",
      one_of({"lines", "conll"}));
  }
  bool by_word() const { return unit == Unit::word || format == Layout::conll; }
};

/// The labels of CoNLL columns, a line for each sentence.
MetricTextLines conll_labels(const MetricTextLines& lines);
/// The labels of a line.
std::vector<std::string_view> labels_of(std::string_view line, bool by_word);
struct LabelPair {
  std::vector<std::string_view> said, right;
};
/// Of what is scored and of the reference, as many; ErrorKind::data if not.
LabelPair label_pair(const MetricLine& line, const LabelFormat& format);

/// Places of names in a row of numbers, three for each: right ones, said ones, those of the reference.
class LabelCounts {
 public:
  void know(std::string_view label) { places_.try_emplace(std::string(label), 0); }
  size_t size() const { return places_.size(); }
  uint32_t place(std::string_view label) const { return places_.find(label)->second; }
  /// Gives places by the order of names, from `first` on.
  void settle(uint32_t first);
  std::vector<LabelScore> scores(std::span<const double> sums) const;

 private:
  std::map<std::string, uint32_t, std::less<>> places_;
};

/// Precision, recall and F1 from counts; 0 where there is nothing to divide by.
LabelScore label_score(std::string label, double right, double said, double there);

class AccuracyMetric : public Metric {
 public:
  static constexpr MetricKind kKind{.name = "accuracy",
                                    .sentence = "the share of labels that are right, one a line or one a word",
                                    .formula = "100 right labels / labels",
                                    .cite = "",
                                    .one_reference = true};
  using Options = LabelFormat;
  explicit AccuracyMetric(const Options& options) : options_(options) {}

  MetricTextLines arranged(const MetricTextLines& lines) const override;
  size_t width() const override { return 2; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override { return percent(sums[0], sums[1]); }
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return options_.by_word() ? "labels:words" : "labels:lines"; }

 private:
  Options options_;
};

class LabelMetric : public Metric {
 public:
  static constexpr MetricKind kKind{
      .name = "f1",
      .sentence = "precision, recall and F1 of each label, one a line or one a word, and their mean",
      .formula = "2 P R / (P + R), P = right / said, R = right / there; macro: the mean over labels",
      .cite = "van Rijsbergen 1979, \"Information retrieval\"; as scikit-learn computes it",
      .one_reference = true};
  enum class Average { macro, micro, weighted };
  struct Options : LabelFormat {
    Average average = Average::macro;
    template <class V>
    void fields(V& v) {
      v("average", average, "macro: labels count alike; weighted: by how often they are there; micro: all as one",
        one_of({"macro", "micro", "weighted"}));
      LabelFormat::fields(v);
    }
  };
  explicit LabelMetric(const Options& options) : options_(options) {}

  MetricTextLines arranged(const MetricTextLines& lines) const override;
  void look_at(const MetricTextLines& lines) override;
  size_t width() const override { return 3 * counts_.size(); }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override;

 private:
  double average(const std::vector<LabelScore>& scores, double LabelScore::*which, Average how) const;
  Options options_;
  LabelCounts counts_;
};

}  // namespace attune
