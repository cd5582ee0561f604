// ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) as the package rouge_score computes them without a stemmer: words shared,
// pairs of words shared, and the longest common subsequence; the mean of the lines' F.
#pragma once
#include "measure/metric.h"
#include "measure/ngrams.h"

namespace attune {

class RougeMetric : public Metric {
 public:
  static constexpr MetricKind kKind{
      .name = "rouge",
      .sentence = "ROUGE-1, -2 and -L as rouge_score computes them: the mean F of words, pairs and subsequences shared",
      .formula =
          "2 P R / (P + R) of a line, P = shared / ours, R = shared / theirs; shared in L: the longest common "
          "subsequence",
      .cite = "Lin 2004, \"ROUGE: a package for automatic evaluation of summaries\""};
  enum class Variant { one, two, longest };
  struct Options {
    Variant variant = Variant::longest;
    template <class V>
    void fields(V& v) {
      v("variant", variant, "which of them is the score; all are told", one_of({"1", "2", "L"}));
    }
  };
  explicit RougeMetric(const Options& options) : options_(options) {}

  size_t width() const override { return 10; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override;
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override { return "case:lc|tok:rouge|stem:no"; }

 private:
  Options options_;
};

/// The words ROUGE compares: runs of a-z and 0-9 of the line in lower case. Other letters end a word.
std::vector<std::string> rouge_words(std::string_view line);
/// How long the longest common subsequence is; 64 steps at once.
int64_t common_subsequence(const Ids& a, const Ids& b);

}  // namespace attune
