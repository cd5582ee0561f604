// Tests of significance by drawing lines anew (Koehn 2004, Riezler and Maxwell 2005), as sacreBLEU makes them: the same
// draws for the same seed.
#pragma once
#include "measure/metric.h"

namespace attune {

/// The scores of `samples` sets of lines drawn with replacement, each as large as the set.
std::vector<double> bootstrap_scores(const Metric& metric, const LineStatistics& lines, int64_t samples, uint64_t seed);
/// Their mean, and half of what holds 95 % of them.
MetricConfidence confidence_of(std::vector<double> scores);

/// How likely systems that are equally good differ as much as these two do. From bootstrap_scores of both, of one seed.
double paired_bootstrap(const std::vector<double>& base, const std::vector<double>& other, double difference);
/// The same by `trials` in which every line goes to either system by chance.
double paired_randomization(const Metric& metric, const LineStatistics& base, const LineStatistics& other,
                            int64_t trials, uint64_t seed);

}  // namespace attune
