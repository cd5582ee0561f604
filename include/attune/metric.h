// Scores of what a model said against what it should have said.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// Words as on the command line; "" takes the metric's default. A metric that has no such choice refuses it.
struct MetricOptions {
  std::string tokenize = {};  // bleu: 13a (default), intl, char, zh, none
  std::string smooth = {};    // bleu: exp (default), floor, none
  bool lowercase = false;
  /// What else a metric can be told, by name: {"beta", "3"}, {"whitespace", "true"}; see describe_metrics.
  std::vector<std::pair<std::string, std::string>> others = {};
  int threads = 1;  // that count lines; 0: all cores. Scores do not depend on it
};

/// Tests by drawing lines anew, as sacreBLEU makes them: the same draws for the same seed, and so the same figures.
struct MetricTests {
  bool confidence = false;  // a 95 % interval of each system's score (bootstrap, Koehn 2004)
  std::string paired = {};  // "bootstrap" or "randomization": is the first system really different? "": not asked
  int64_t samples = 0;      // draws; 0: 1,000, and 10,000 for randomization
  uint64_t seed = 12345;
};

/// How well one label, or one type of span, was found.
struct LabelScore {
  std::string label;
  double precision = 0, recall = 0, f1 = 0;  // 0 to 100
  int64_t count = 0, found = 0, right = 0;   // in the reference, in what is scored, in both
};

struct MetricConfidence {
  double mean = 0, half = 0;  // mean +- half holds 95 % of the draws
};

struct MetricResult {
  std::string name;       // "bleu"
  double score = 0;       // 0 to 100; an error rate may be more
  std::string signature;  // how it was computed: scores of equal signatures can be compared
  std::string text;       // one line for people
  std::vector<std::pair<std::string, double>> details = {};  // what the score is made of
  std::vector<LabelScore> labels = {};                       // of f1 and span-f1, by name
  std::optional<MetricConfidence> confidence = {};
  std::optional<double> p_value = {};  // how likely chance alone makes it differ so from the first system
};

/// The metrics there are.
std::vector<std::string> metric_names();

struct MetricOptionDescription {
  std::string name, choices, value, sentence;  // "smooth", "exp | floor | none", "exp", "what stands in for ..."
  bool is_flag = false;                        // true or false
};
struct MetricDescription {
  std::string name, sentence, formula, cite;
  bool less_is_better = false;  // an error rate
  std::vector<MetricOptionDescription> options;
};
std::vector<MetricDescription> describe_metrics();
/// Whether a lower score is better; loss and perplexity are known too.
bool less_is_better(const std::string& metric);

/// references[k][i] belongs to hypotheses[i].
MetricResult measure(const std::string& name, const std::vector<std::string>& hypotheses,
                     const std::vector<std::vector<std::string>>& references, const MetricOptions& options = {});
/// The same for several systems; the first is what the others are tested against.
std::vector<MetricResult> measure_systems(const std::string& name, const std::vector<std::vector<std::string>>& systems,
                                          const std::vector<std::vector<std::string>>& references,
                                          const MetricOptions& options = {}, const MetricTests& tests = {});
/// A score for every line by itself; bleu leaves out orders longer than the line.
std::vector<MetricResult> measure_lines(const std::string& name, const std::vector<std::string>& hypotheses,
                                        const std::vector<std::vector<std::string>>& references,
                                        const MetricOptions& options = {});
/// ErrorKind::usage for a metric or options that there are not: to learn it before files are read.
void check_metric(const std::string& name, const MetricOptions& options = {});

/// What files hold, plain or .gz; "-" is the standard input. ErrorKind::data when they differ in length or are empty.
struct MetricTexts {
  std::vector<std::vector<std::string>> systems, references;
};
MetricTexts read_metric_files(const std::vector<std::string>& systems, const std::vector<std::string>& references);
MetricResult measure_files(const std::string& name, const std::string& hypotheses,
                           const std::vector<std::string>& references, const MetricOptions& options = {});

}  // namespace attune
