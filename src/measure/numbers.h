// Scores of numbers, one a line: how they go together with the right ones, and how far they are from them.
#pragma once
#include "measure/metric.h"

namespace attune {

class PearsonMetric : public Metric {
 public:
  static constexpr MetricKind kKind{
      .name = "pearson",
      .sentence = "the correlation of numbers, one a line, with the right ones",
      .formula = "100 cov(x, y) / (deviation of x, deviation of y)",
      .cite = "Pearson 1895, \"Notes on regression and inheritance in the case of two parents\"",
      .one_reference = true};
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  explicit PearsonMetric(const Options&) {}

  size_t width() const override { return 6; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return "numbers:lines"; }
};

class SquaredErrorMetric : public Metric {
 public:
  static constexpr MetricKind kKind{.name = "mse",
                                    .sentence = "the mean of the squared distance of numbers from the right ones",
                                    .formula = "sum (x - y)^2 / lines",
                                    .cite = "",
                                    .less_is_better = true,
                                    .one_reference = true};
  struct Options {
    template <class V>
    void fields(V&) {}
  };
  explicit SquaredErrorMetric(const Options&) {}

  size_t width() const override { return 2; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override { return sums[1] > 0 ? sums[0] / sums[1] : 0; }
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return "numbers:lines"; }
};

}  // namespace attune
