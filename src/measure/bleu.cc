#include "measure/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "measure/ngrams.h"
#include "text/lower_case.h"

namespace attune {

namespace {

// Where a line's numbers stand.
constexpr uint32_t kHypothesis = 0, kReference = 1, kMatches = 2, kTotals = 2 + Bleu::kOrders;

}  // namespace

void BleuMetric::count(const MetricLine& line, LineCounts& out) const {
  const auto cut = [&](std::string_view text) {
    return tokenize(options_.lowercase ? text::lower_case(text) : std::string(text), options_.tokenize);
  };
  std::vector<std::string> texts{cut(line.hypothesis)};
  for (std::string_view r : line.references) texts.push_back(cut(r));
  std::vector<std::vector<std::string_view>> words;
  for (const std::string& t : texts) words.push_back(split_words(t));

  const int64_t length = std::ssize(words[0]);
  const auto distance = [&](const auto& r) { return std::abs(std::ssize(r) - length); };
  const auto near = std::min_element(words.begin() + 1, words.end(), [&](const auto& a, const auto& b) {
    return std::pair(distance(a), a.size()) < std::pair(distance(b), b.size());  // the shorter of two equally near
  });
  out.emplace_back(kHypothesis, static_cast<double>(length));
  out.emplace_back(kReference, static_cast<double>(near->size()));
  Ngrams grams(number_words(words));
  for (uint32_t n = 0; n < Bleu::kOrders && !grams.of(0).empty(); ++n, grams.longer()) {
    out.emplace_back(kMatches + n, static_cast<double>(grams.matches_any(0, 1)));
    out.emplace_back(kTotals + n, static_cast<double>(grams.of(0).size()));
  }
}

Bleu BleuMetric::result(std::span<const double> sums) const {
  Bleu b;
  b.hypothesis_length = std::llround(sums[kHypothesis]);
  b.reference_length = std::llround(sums[kReference]);
  for (size_t n = 0; n < Bleu::kOrders; ++n) {
    b.matches[n] = std::llround(sums[kMatches + n]);
    b.totals[n] = std::llround(sums[kTotals + n]);
  }
  const double ours = sums[kHypothesis], theirs = sums[kReference];
  b.brevity_penalty = ours >= theirs ? 1.0 : ours > 0 ? std::exp(1 - theirs / ours) : 0.0;
  if (std::all_of(b.matches.begin(), b.matches.end(), [](int64_t m) { return m == 0; })) return b;

  double part = 1;  // of a match, for exp
  size_t orders = Bleu::kOrders;
  for (size_t n = 0; n < Bleu::kOrders && b.totals[n] > 0; ++n) {
    if (options_.effective_order) orders = n + 1;
    double matches = static_cast<double>(b.matches[n]);
    if (b.matches[n] == 0 && options_.smooth == Smoothing::exp) matches = part /= 2;
    if (b.matches[n] == 0 && options_.smooth == Smoothing::floor) matches = options_.smooth_value;
    b.precisions[n] = 100 * matches / static_cast<double>(b.totals[n]);
  }
  double logs = 0;
  for (size_t n = 0; n < orders; ++n)
    logs += std::log(b.precisions[n] / 100);  // of 0: minus infinity, and the score is 0
  b.score = 100 * b.brevity_penalty * std::exp(logs / static_cast<double>(orders));
  return b;
}

std::string Bleu::text(const std::string& interval) const {
  std::string out = fmt::format("{:.2f}{} ", score, interval);
  for (size_t n = 0; n < kOrders; ++n) out += fmt::format("{}{:.1f}", n ? "/" : "", precisions[n]);
  const double ratio =
      reference_length > 0 ? static_cast<double>(hypothesis_length) / static_cast<double>(reference_length) : 0.0;
  return out + fmt::format(" (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})", brevity_penalty, ratio,
                           hypothesis_length, reference_length);
}

void BleuMetric::describe(std::span<const double> sums, const std::string& interval, MetricResult& out) const {
  const Bleu b = result(sums);
  out.score = b.score;
  out.text = "BLEU = " + b.text(interval);
  for (size_t n = 0; n < Bleu::kOrders; ++n)
    out.details.emplace_back(fmt::format("precision_{}", n + 1), b.precisions[n]);
  out.details.emplace_back("brevity_penalty", b.brevity_penalty);
  out.details.emplace_back("hypothesis_length", b.hypothesis_length);
  out.details.emplace_back("reference_length", b.reference_length);
}

std::string BleuMetric::signature() const {
  const BleuOptions& o = options_;
  std::string smooth = o.smooth == Smoothing::exp ? "exp" : "none";
  if (o.smooth == Smoothing::floor) smooth = fmt::format("floor[{:.2f}]", o.smooth_value);
  return fmt::format("case:{}|eff:{}|tok:{}|smooth:{}", o.lowercase ? "lc" : "mixed", o.effective_order ? "yes" : "no",
                     kTokenizations[static_cast<size_t>(o.tokenize)], smooth);
}

Bleu bleu(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
          const BleuOptions& options) {
  check(!references.empty(), "bleu", "no references");
  const BleuMetric metric(options);
  return metric.result(LineStatistics(metric, hypotheses, references, nullptr).sums());
}

}  // namespace attune
