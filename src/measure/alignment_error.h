// The alignment error rate (Och and Ney 2003, "A systematic comparison of various statistical alignment models",
// section 6): how far links of words are from those that people made, some of them sure, some possible.
#pragma once
#include "measure/metric.h"

namespace attune {

/// Lines of links (text/links.h). In the reference "1-2" is sure, and possible too, "1p2" is possible; of what is
/// scored all are links. ErrorKind::data, with the line, for what is no link.
class AlignmentErrorMetric : public Metric {
 public:
  static constexpr MetricKind kKind{
      .name = "aer",
      .sentence = "alignment error rate of lines like 0-0 1-2; 1p2 in the reference is possible rather than sure",
      .formula = "100 (1 - (|A and S| + |A and P|) / (|A| + |S|))",
      .cite = "Och and Ney 2003, \"A systematic comparison of various statistical alignment models\"",
      .less_is_better = true,
      .one_reference = true};
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  explicit AlignmentErrorMetric(const Options&) {}

  size_t width() const override { return 4; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return "links:words"; }
};

}  // namespace attune
