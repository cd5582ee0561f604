// How good a model is on a test set, by the metrics of its task.
#pragma once
#include <string>
#include <vector>

#include "attune/metric.h"
#include "attune/translator.h"

namespace attune {

struct TestedLine {
  std::string source, reference, translation;
  bool right = false;  // as the metric "exact" sees it
};

struct TestReport {
  std::vector<MetricResult> scores;  // bleu, exact, train.metric; of a language model perplexity, loss
  std::vector<TestedLine> tested;    // what they were measured on; none for a language model
  int64_t lines = 0, tokens = 0;     // tokens: that a language model was asked for
  double seconds = 0;                // of translating
  std::vector<std::string> notes;    // a sentence for each thing worth telling: lines left out, lines cropped
};

/// Translates the files that data.test of the model's recipe names and compares; a language model tells how probable it
/// finds them. `sets` go on top of the recipe: "data.test=[\"a.en\", \"a.de\"]", relative to the current folder.
/// ErrorKind::recipe when there is no test set.
TestReport test_model(const std::string& model, const std::vector<std::string>& sets = {},
                      const TranslateOptions& options = {}, int threads = 0);

}  // namespace attune
