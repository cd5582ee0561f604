#include "measure/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "attune/version.h"
#include "base/error.h"
#include "text/lower_case.h"

namespace attune {

namespace {

using Gram = std::array<int32_t, Bleu::kOrders>;  // numbers of words; -1 fills up
using Numbers = std::unordered_map<std::string, int32_t>;

std::vector<int32_t> numbers_of(std::string_view line, const BleuOptions& options, Numbers& known) {
  const std::string words = tokenize(options.lowercase ? text::lower_case(line) : std::string(line), options.tokenize);
  std::vector<int32_t> out;
  for (std::string_view word : split_words(words))
    out.push_back(known.try_emplace(std::string(word), static_cast<int32_t>(known.size())).first->second);
  return out;
}

/// All n-grams of n words, each with how often it occurs, in order.
std::vector<std::pair<Gram, int64_t>> count_grams(const std::vector<int32_t>& words, size_t n) {
  std::vector<Gram> grams;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    Gram g;
    g.fill(-1);
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(i), n, g.begin());
    grams.push_back(g);
  }
  std::sort(grams.begin(), grams.end());
  std::vector<std::pair<Gram, int64_t>> counts;
  for (const Gram& g : grams) {
    if (counts.empty() || counts.back().first != g) counts.emplace_back(g, 0);
    ++counts.back().second;
  }
  return counts;
}

/// How often a reference has it.
int64_t count_in(const std::vector<std::pair<Gram, int64_t>>& counts, const Gram& gram) {
  const auto at = std::lower_bound(counts.begin(), counts.end(), gram,
                                   [](const auto& entry, const Gram& g) { return entry.first < g; });
  return at != counts.end() && at->first == gram ? at->second : 0;
}

std::string signature_of(const BleuOptions& o, int64_t references) {
  std::string smooth = o.smooth == Smoothing::exp ? "exp" : "none";
  if (o.smooth == Smoothing::floor) smooth = fmt::format("floor[{:.2f}]", o.floor);
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:attune.{}", references,
                     o.lowercase ? "lc" : "mixed", o.effective_order ? "yes" : "no",
                     kTokenizations[static_cast<size_t>(o.tokenize)], smooth, version());
}

}  // namespace

void BleuCounter::add(std::string_view hypothesis, const std::vector<std::string_view>& references) {
  check(!references.empty() && (references_ == 0 || references_ == std::ssize(references)), "bleu",
        "a line has {} references, wanted {}", references.size(), references_ == 0 ? 1 : references_);
  references_ = std::ssize(references);
  Numbers known;
  const std::vector<int32_t> words = numbers_of(hypothesis, options_, known);
  std::vector<std::vector<int32_t>> others;
  for (std::string_view r : references) others.push_back(numbers_of(r, options_, known));

  hypothesis_length_ += std::ssize(words);
  const auto distance = [&](const auto& r) { return std::abs(std::ssize(r) - std::ssize(words)); };
  reference_length_ += std::ssize(*std::min_element(others.begin(), others.end(), [&](const auto& a, const auto& b) {
    return std::pair(distance(a), a.size()) < std::pair(distance(b), b.size());  // the shorter of two equally near
  }));
  for (size_t n = 1; n <= Bleu::kOrders && n <= words.size(); ++n) {
    std::vector<std::vector<std::pair<Gram, int64_t>>> theirs;
    for (const auto& r : others) theirs.push_back(count_grams(r, n));
    for (const auto& [gram, count] : count_grams(words, n)) {
      int64_t most = 0;
      for (const auto& t : theirs) most = std::max(most, count_in(t, gram));
      matches_[n - 1] += std::min(count, most);
    }
    totals_[n - 1] += std::ssize(words) - static_cast<int64_t>(n) + 1;
  }
}

Bleu BleuCounter::result() const {
  Bleu b;
  b.hypothesis_length = hypothesis_length_;
  b.reference_length = reference_length_;
  b.matches = matches_;
  b.totals = totals_;
  b.signature = signature_of(options_, references_);
  const double ours = static_cast<double>(hypothesis_length_), theirs = static_cast<double>(reference_length_);
  b.brevity_penalty = ours >= theirs ? 1.0 : ours > 0 ? std::exp(1 - theirs / ours) : 0.0;
  if (std::all_of(matches_.begin(), matches_.end(), [](int64_t m) { return m == 0; })) return b;

  double part = 1;  // of a match, for exp
  size_t orders = Bleu::kOrders;
  for (size_t n = 0; n < Bleu::kOrders && totals_[n] > 0; ++n) {
    if (options_.effective_order) orders = n + 1;
    double matches = static_cast<double>(matches_[n]);
    if (matches_[n] == 0 && options_.smooth == Smoothing::exp) matches = part /= 2;
    if (matches_[n] == 0 && options_.smooth == Smoothing::floor) matches = options_.floor;
    b.precisions[n] = 100 * matches / static_cast<double>(totals_[n]);
  }
  double logs = 0;
  for (size_t n = 0; n < orders; ++n)
    logs += std::log(b.precisions[n] / 100);  // of 0: minus infinity, and the score is 0
  b.score = 100 * b.brevity_penalty * std::exp(logs / static_cast<double>(orders));
  return b;
}

std::string Bleu::text() const {
  std::string out = fmt::format("{:.2f} ", score);
  for (size_t n = 0; n < kOrders; ++n) out += fmt::format("{}{:.1f}", n ? "/" : "", precisions[n]);
  const double ratio =
      reference_length > 0 ? static_cast<double>(hypothesis_length) / static_cast<double>(reference_length) : 0.0;
  return out + fmt::format(" (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})", brevity_penalty, ratio,
                           hypothesis_length, reference_length);
}

Bleu bleu(const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::string>>& references,
          const BleuOptions& options) {
  check(!references.empty(), "bleu", "no references");
  for (const auto& r : references)
    if (r.size() != hypotheses.size())
      fail(ErrorKind::data, "{} hypotheses, but {} references", hypotheses.size(), r.size());
  BleuCounter counter(options);
  std::vector<std::string_view> of_line(references.size());
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    for (size_t k = 0; k < references.size(); ++k) of_line[k] = references[k][i];
    counter.add(hypotheses[i], of_line);
  }
  return counter.result();
}

}  // namespace attune
