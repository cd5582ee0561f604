// What validation says of models that are there already: of one run, on what it validated on.
#pragma once
#include <string>
#include <vector>

namespace attune {

struct JudgedModels {
  std::string metric;          // the recipe's
  std::vector<double> scores;  // by it, of each model
  std::string why_not;         // where they could not be judged: the reason, in a line
};

/// Models of one recipe and one tokenizer; threads: 0 for all cores.
JudgedModels judge_models(const std::vector<std::string>& folders, int threads);

}  // namespace attune
