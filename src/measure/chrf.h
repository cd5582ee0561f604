// chrF and chrF++ (Popović 2015, 2017) as sacreBLEU computes them: shared n-grams of characters, and of words.
#pragma once
#include "measure/metric.h"

namespace attune {

struct ChrfOptions {
  int64_t char_order = 6, word_order = 0, beta = 2;
  bool lowercase = false, whitespace = false, eps_smoothing = false;

  template <class V>
  void fields(V& v) {
    v("char_order", char_order, "characters in the longest n-grams of characters", between(1, 16));
    v("word_order", word_order, "words in the longest n-grams of words; 2 is chrF++", between(0, 16));
    v("beta", beta, "how many times as much recall counts as precision", between(1, 100));
    v("lowercase", lowercase, "compare in lower case");
    v("whitespace", whitespace, "blanks are characters too");
    v("eps_smoothing", eps_smoothing, "average the F of all orders, as chrF++.py does, not precision and recall");
  }
};

class ChrfMetric : public Metric {
 public:
  static constexpr MetricKind kKind{
      .name = "chrf",
      .sentence = "chrF as sacreBLEU computes it: shared n-grams of one to six characters",
      .formula = "100 (1 + beta²) P R / (beta² P + R), P and R means over the orders that both sides have",
      .cite = "Popović 2015, \"chrF: character n-gram F-score for automatic MT evaluation\""};
  using Options = ChrfOptions;
  explicit ChrfMetric(const Options& options) : options_(options) {}

  size_t width() const override { return 3 * orders(); }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override;

 private:
  size_t orders() const { return static_cast<size_t>(options_.char_order + options_.word_order); }
  ChrfOptions options_;
};

class ChrfPlusPlusMetric : public ChrfMetric {
 public:
  static constexpr MetricKind kKind{
      .name = "chrf++",
      .sentence = "chrF++ as sacreBLEU computes it: shared n-grams of one to six characters and of one and two words",
      .formula = "that of chrf with word_order = 2",
      .cite = "Popović 2017, \"chrF++: words helping character n-grams\""};
  struct Options : ChrfOptions {
    Options() { word_order = 2; }
  };
  explicit ChrfPlusPlusMetric(const Options& options) : ChrfMetric(options) {}
};

}  // namespace attune
