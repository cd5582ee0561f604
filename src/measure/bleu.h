// Corpus BLEU (Papineni et al., 2002) as sacreBLEU (Post, 2018) computes it, so that scores can be compared.
#pragma once
#include <array>

#include "measure/metric.h"
#include "measure/words.h"

namespace attune {

/// What stands in for an n-gram precision of 0: a half, a quarter ... of a match (exp), a fixed share of one (floor),
/// nothing.
enum class Smoothing { exp, floor, none };

struct BleuOptions {
  Tokenization tokenize = Tokenization::v13a;
  Smoothing smooth = Smoothing::exp;
  double smooth_value = 0.1;
  bool lowercase = false;
  bool effective_order = false;  // leave out orders longer than any hypothesis: for single sentences

  template <class V>
  void fields(V& v) {
    v("tokenize", tokenize, "how lines are cut into words", one_of(kTokenizations));
    v("smooth", smooth, "what stands in for a precision of 0", one_of({"exp", "floor", "none"}));
    v("smooth_value", smooth_value, "the share of a match that smooth = floor takes", between(0, 1));
    v("lowercase", lowercase, "compare in lower case");
    v("effective_order", effective_order, "leave out orders longer than any hypothesis: for single sentences");
  }
};

struct Bleu {
  static constexpr size_t kOrders = 4;
  double score = 0;                          // 0 to 100
  std::array<double, kOrders> precisions{};  // 0 to 100, smoothed
  double brevity_penalty = 0;
  int64_t hypothesis_length = 0, reference_length = 0;
  std::array<int64_t, kOrders> matches{}, totals{};
  /// "26.33 59.3/32.3/19.9/12.6 (BP = 1.000 ratio = 1.003 hyp_len = 61450 ref_len = 61287)"
  std::string text(const std::string& interval = "") const;
};

class BleuMetric : public Metric {
 public:
  static constexpr MetricKind kKind{
      .name = "bleu",
      .sentence = "corpus BLEU as sacreBLEU computes it: shared n-grams of one to four words",
      .formula = "BP exp((log p1 + log p2 + log p3 + log p4) / 4), BP = min(1, exp(1 - r / c))",
      .cite =
          "Papineni et al. 2002, \"BLEU: a method for automatic evaluation of machine translation\"; Post 2018, \"A "
          "call for clarity in reporting BLEU scores\""};
  using Options = BleuOptions;
  explicit BleuMetric(const Options& options) : options_(options) {}

  size_t width() const override { return 2 + 2 * Bleu::kOrders; }
  void count(const MetricLine& line, LineCounts& out) const override;
  double score(std::span<const double> sums) const override { return result(sums).score; }
  void describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const override;
  std::string signature() const override;
  Bleu result(std::span<const double> sums) const;

 private:
  BleuOptions options_;
};

/// Of a whole set; references[k][i] belongs to hypotheses[i]. ErrorKind::data when the counts differ.
Bleu bleu(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
          const BleuOptions& options = {});

}  // namespace attune
