// The share of lines that equal a reference, for tasks with one right answer.
#pragma once
#include "measure/metric.h"

namespace attune {

class ExactMetric : public Metric {
 public:
  static constexpr MetricKind kKind{.name = "exact",
                                    .sentence = "the share of lines that equal a reference, to the byte",
                                    .formula = "100 lines that equal a reference / lines",
                                    .cite = ""};
  struct Options {
    bool lowercase = false;
    template <class V>
    void fields(V& v) {
      v("lowercase", lowercase, "compare in lower case");
    }
  };
  explicit ExactMetric(const Options& options) : options_(options) {}

  size_t width() const override { return 2; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override { return percent(sums[0], sums[1]); }
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return options_.lowercase ? "case:lc" : "case:mixed"; }

 private:
  Options options_;
};

}  // namespace attune
