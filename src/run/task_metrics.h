// What translations and answers are judged by while a model learns and in `attune test`: what is usual for the task,
// and train.metric where that is another.
#pragma once
#include "attune/metric.h"
#include "recipe/settings.h"

namespace attune {

/// Translations: bleu, then exact; labels: accuracy, then f1; a label for each word: accuracy, and span-f1 where labels
/// are those of spans. train.metric_options tells how, as far as a metric can be told.
std::vector<MetricResult> judge_texts(const std::vector<std::string>& texts, const std::vector<std::string>& targets,
                                      const Recipe& recipe, int threads);

}  // namespace attune
