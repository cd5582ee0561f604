// The translation edit rate (Snover et al., 2006) as sacreBLEU computes it.
#pragma once
#include "measure/metric.h"

namespace attune {

struct TerOptions {
  bool case_sensitive = false, normalized = false, no_punct = false, asian_support = false;

  template <class V>
  void fields(V& v) {
    v("case_sensitive", case_sensitive, "capitals matter");
    v("normalized", normalized, "set punctuation off from words first");
    v("no_punct", no_punct, "leave punctuation out");
    v("asian_support", asian_support, "with normalized: Chinese characters are words; with no_punct: Asian marks too");
  }
};

class TerMetric : public Metric {
 public:
  static constexpr MetricKind kKind{
      .name = "ter",
      .sentence = "translation edit rate as sacreBLEU computes it: words to change and runs of words to move",
      .formula = "100 edits / words of the reference (the mean of several)",
      .cite = "Snover et al. 2006, \"A study of translation edit rate with targeted human annotation\"",
      .less_is_better = true};
  using Options = TerOptions;
  explicit TerMetric(const Options& options) : options_(options) {}

  size_t width() const override { return 2; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override;

 private:
  TerOptions options_;
};

/// A line as Tercom compares it: blanks between words.
std::string tercom_words(std::string_view line, const TerOptions& options);

}  // namespace attune
