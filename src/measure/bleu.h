// Corpus BLEU (Papineni et al., 2002) as sacreBLEU (Post, 2018) computes it, so that scores can be compared.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "measure/words.h"

namespace attune {

/// What stands in for an n-gram precision of 0: a half, a quarter ... of a match (exp), a fixed share of one (floor),
/// nothing.
enum class Smoothing { exp, floor, none };

struct BleuOptions {
  Tokenization tokenize = Tokenization::v13a;
  Smoothing smooth = Smoothing::exp;
  double floor = 0.1;
  bool lowercase = false;
  bool effective_order = false;  // leave out orders longer than any hypothesis: for single sentences

  template <class V>
  void fields(V& v) {
    v("tokenize", tokenize, "how lines are cut into words", one_of(kTokenizations));
    v("smooth", smooth, "what stands in for a precision of 0", one_of({"exp", "floor", "none"}));
    v("floor", floor, "the share of a match that smooth = floor takes", between(0, 1));
    v("lowercase", lowercase, "compare in lower case");
    v("effective_order", effective_order, "leave out orders longer than any hypothesis");
  }
};

struct Bleu {
  static constexpr size_t kOrders = 4;
  double score = 0;                          // 0 to 100
  std::array<double, kOrders> precisions{};  // 0 to 100, smoothed
  double brevity_penalty = 0;
  int64_t hypothesis_length = 0, reference_length = 0;
  std::array<int64_t, kOrders> matches{}, totals{};
  std::string signature;  // how it was computed, in sacreBLEU's form
  /// "26.33 59.3/32.3/19.9/12.6 (BP = 1.000 ratio = 1.003 hyp_len = 61450 ref_len = 61287)"
  std::string text() const;
};

/// Counts as lines come in; the order of lines does not matter.
class BleuCounter {
 public:
  explicit BleuCounter(const BleuOptions& options = {}) : options_(options) {}
  /// One line and its references, as many for every line.
  void add(std::string_view hypothesis, const std::vector<std::string_view>& references);
  Bleu result() const;

 private:
  BleuOptions options_;
  int64_t references_ = 0, hypothesis_length_ = 0, reference_length_ = 0;
  std::array<int64_t, Bleu::kOrders> matches_{}, totals_{};
};

/// Of a whole set; references[k][i] belongs to hypotheses[i]. ErrorKind::data when the counts differ.
Bleu bleu(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
          const BleuOptions& options = {});

}  // namespace attune
