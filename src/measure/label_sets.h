// Scores of sets of labels: a line has any number of them, with blanks between them.
#pragma once
#include "measure/metric.h"

namespace attune {

class SetMetric : public Metric {
 public:
  static constexpr MetricKind kKind{.name = "set-f1",
                                    .sentence = "precision, recall and F1 of sets of labels, all labels as one",
                                    .formula = "2 P R / (P + R), P = right / said, R = right / there",
                                    .cite = "Tsoumakas and Katakis 2007, \"Multi-label classification: an overview\"",
                                    .one_reference = true};
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  explicit SetMetric(const Options&) {}

  size_t width() const override { return 5; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return "labels:sets|average:micro"; }
};

}  // namespace attune
