// Scores of what a model said against what it should have said.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// Words as on the command line; "" takes the metric's default. A metric that has no such choice refuses it.
struct MetricOptions {
  std::string tokenize = {};  // bleu: 13a (default), none
  std::string smooth = {};    // bleu: exp (default), floor, none
  bool lowercase = false;
};

struct MetricResult {
  std::string name;       // "bleu"
  double score = 0;       // 0 to 100
  std::string signature;  // how it was computed: scores of equal signatures can be compared
  std::string text;       // one line for people
  std::vector<std::pair<std::string, double>> details;  // what the score is made of
};

/// The metrics there are.
std::vector<std::string> metric_names();

/// references[k][i] belongs to hypotheses[i].
MetricResult measure(const std::string& name, const std::vector<std::string>& hypotheses,
                     const std::vector<std::vector<std::string>>& references, const MetricOptions& options = {});

/// The same for files, plain or .gz; "-" is the standard input. ErrorKind::data when they differ in length.
MetricResult measure_files(const std::string& name, const std::string& hypotheses,
                           const std::vector<std::string>& references, const MetricOptions& options = {});

}  // namespace attune
