#include "measure/resample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "measure/numpy_random.h"

namespace attune {

namespace {

/// The share of draws beyond what was seen; one is added so that it is never 0.
double p_value(int64_t beyond, int64_t draws) {
  return static_cast<double>(beyond + 1) / static_cast<double>(draws + 1);
}

}  // namespace

std::vector<double> bootstrap_scores(const Metric& metric, const LineStatistics& lines, int64_t samples,
                                     uint64_t seed) {
  check(lines.lines() > 0 && lines.lines() < int64_t{UINT32_MAX}, "bootstrap", "{} lines", lines.lines());
  NumpyRandom random(seed);
  std::vector<double> scores, sums(lines.width());
  for (int64_t s = 0; s < samples; ++s) {
    std::fill(sums.begin(), sums.end(), 0);
    for (int64_t i = 0; i < lines.lines(); ++i) lines.add(random.below(static_cast<uint32_t>(lines.lines())), sums);
    scores.push_back(metric.score(sums));
  }
  return scores;
}

MetricConfidence confidence_of(std::vector<double> scores) {
  check(!scores.empty(), "confidence", "no samples");
  std::sort(scores.begin(), scores.end());
  const size_t outside = scores.size() / 40;
  return {std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size()),
          (scores[scores.size() - outside - 1] - scores[outside]) / 2};
}

double paired_bootstrap(const std::vector<double>& base, const std::vector<double>& other, double difference) {
  check(base.size() == other.size() && !base.empty(), "paired_bootstrap", "{} and {} samples", base.size(),
        other.size());
  std::vector<double> differences(base.size());
  for (size_t i = 0; i < base.size(); ++i) differences[i] = std::abs(other[i] - base[i]);
  const double mean =
      std::accumulate(differences.begin(), differences.end(), 0.0) / static_cast<double>(differences.size());
  const auto beyond =
      std::count_if(differences.begin(), differences.end(), [&](double d) { return d - mean > std::abs(difference); });
  return p_value(beyond, std::ssize(differences));
}

double paired_randomization(const Metric& metric, const LineStatistics& base, const LineStatistics& other,
                            int64_t trials, uint64_t seed) {
  check(base.lines() == other.lines() && base.width() == other.width(), "paired_randomization",
        "{} and {} lines of {} and {} numbers", base.lines(), other.lines(), base.width(), other.width());
  const std::vector<double> ours = base.sums(), theirs = other.sums();
  const double difference = std::abs(metric.score(ours) - metric.score(theirs));
  NumpyRandom random(seed);
  std::vector<double> a(base.width()), b(base.width());
  int64_t beyond = 0;
  for (int64_t t = 0; t < trials; ++t) {
    std::fill(a.begin(), a.end(), 0);
    for (int64_t i = 0; i < base.lines(); ++i) (random.bit() ? base : other).add(i, a);
    for (size_t k = 0; k < b.size(); ++k) b[k] = ours[k] + theirs[k] - a[k];
    if (std::abs(metric.score(a) - metric.score(b)) > difference) ++beyond;
  }
  return p_value(beyond, trials);
}

}  // namespace attune
