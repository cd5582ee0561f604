// What translations and answers are judged by while a model learns and in `attune test`: what is usual for the task,
// and train.metric where that is another.
#pragma once
#include "attune/test.h"
#include "measure/label_report.h"
#include "recipe/settings.h"
#include "text/labels.h"

namespace attune {

/// Translations: bleu, then exact; labels: accuracy, then f1; a label for each word: accuracy, and span-f1 where labels
/// are those of spans. train.metric_options tells how, as far as a metric can be told.
std::vector<MetricResult> judge_texts(const std::vector<std::string>& texts, const std::vector<std::string>& targets,
                                      const Recipe& recipe, int threads);
/// How well each label was found, of each head that gives labels; where those of words are of spans, of these too.
std::vector<LabelReport> label_reports(const AnsweredLines& lines, const Recipe& recipe);
/// Labels that nothing in the training data had: no model can say them.
struct UnseenLabels {
  int64_t labels = 0, answers = 0, of = 0;  // different ones; answers that have one; all answers
  std::string first = {};
  /// "2 labels of the test data ("x", ...) are not in the training data: 7 answers can't be right"; "": there are none.
  std::string sentence(const char* data) const;
};
UnseenLabels unseen_labels(const std::vector<LabelReport>& reports, const text::Labels& known, const Recipe& recipe);
UnseenLabels unseen_labels(const std::vector<std::string>& answers, const text::Labels& known, const Recipe& recipe);
/// The numbers that the first head for such gives, a line each; none where there is no such head.
std::vector<double> numbers_of(const std::vector<std::string>& lines, const Recipe& recipe);

}  // namespace attune
