// What translations are judged by while a model learns and in `attune test`: bleu, exact, and train.metric where that
// is another.
#pragma once
#include "attune/metric.h"
#include "recipe/settings.h"

namespace attune {

/// The first is bleu, the second exact. `settings` tells how, as far as a metric can be told.
std::vector<MetricResult> judge_texts(const std::vector<std::string>& texts, const std::vector<std::string>& targets,
                                      const std::string& metric, const MetricSettings& settings, int threads);

}  // namespace attune
