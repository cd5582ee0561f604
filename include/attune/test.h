// How good a model is on a test set, by the metrics of its task; and what it gets wrong.
#pragma once
#include <string>
#include <vector>

#include "attune/metric.h"
#include "attune/translator.h"

namespace attune {

struct TestedLine {
  std::string source, reference, translation;
  bool right = false;  // as the metric "exact" sees it
  double score = 0;    // by TestReport::line_metric
};

/// What was given instead of a label. "(none)" stands for no label, and no span.
struct Confusion {
  std::string label, given;
  int64_t count = 0;
  double share = 0;     // of all that have the label, 0 to 100; 0 of "(none)"
  std::string example;  // the first: a text, a word in [brackets] among its neighbours, the name of a picture
};

/// How well each label was found, and what was taken for what.
struct LabelReport {
  enum class Of { lines, sets, words, spans } of = Of::lines;
  int head = 0;                            // of several, from 0
  std::vector<LabelScore> labels;          // the most frequent first
  LabelScore macro, weighted, micro;       // labels count alike; by how often they are there; all as one
  std::vector<Confusion> confusions = {};  // all, the most frequent first
};

/// A file that a language model was tested on.
struct TestedFile {
  std::string file;
  double perplexity = 0;
  int64_t tokens = 0;
};

struct TestReport {
  std::string task, model;           // "classify"; the folder
  std::vector<MetricResult> scores;  // bleu, exact, train.metric; of a language model perplexity, loss
  std::vector<TestedLine> tested;    // what they were measured on; of a language model some lines, as sources
  int64_t lines = 0, tokens = 0;     // tokens: that a language model was asked for
  double seconds = 0;                // of translating
  std::vector<std::string> notes;    // a sentence for each thing worth telling: lines left out, lines cropped
  std::vector<LabelReport> labels;   // of labels, of each head; of words with B- and I- also of their spans
  /// "chrf" of translations, "distance" of numbers, "nats" a token of a language model, "" where lines are not ranked.
  std::string line_metric;
  std::vector<size_t> best, worst;  // which of `tested`: at most ten each, none in both
  std::vector<TestedFile> files;    // of a language model, where there are several
};

/// Translates the files that data.test of the model's recipe names and compares; a language model tells how probable it
/// finds them. `sets` go on top of the recipe: "data.test=[\"a.en\", \"a.de\"]", relative to the current folder.
/// ErrorKind::recipe when there is no test set.
TestReport test_model(const std::string& model, const std::vector<std::string>& sets = {},
                      const TranslateOptions& options = {}, int threads = 0);

/// The report as one page of HTML that needs nothing else: scores, tables, confusions, the best and the worst lines.
std::string test_page(const TestReport& report);
/// Writes it. ErrorKind::io when that fails.
void write_test_page(const TestReport& report, const std::string& file);

}  // namespace attune
