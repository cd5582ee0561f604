// Judges a model on the validation set: loss, perplexity, and translations against their references.
#pragma once
#include "api/model_files.h"
#include "attune/trainer.h"
#include "data/training_data.h"
#include "train/loop.h"

namespace attune {

class Validator {
 public:
  /// All outlive it. Translations are made where the metric, or people, look at them.
  Validator(Learner& learner, const TrainingData& data, const Tokenizers& tokenizers, const Recipe& recipe,
            ThreadPool& pool);
  bool possible() const { return data_.valid.size() > 0; }
  /// The score is higher for better models, whatever the metric.
  ValidationResult operator()(const Progress& progress, double* score);

 private:
  double loss();
  std::vector<std::string> translations();

  Learner& learner_;
  const TrainingData& data_;
  const Tokenizers& tokenizers_;
  const Recipe& recipe_;
  ThreadPool& pool_;
};

}  // namespace attune
