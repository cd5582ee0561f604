// Judges a model on the validation set: loss, perplexity, and where it translates, translations against references.
#pragma once
#include <optional>

#include "attune/trainer.h"
#include "data/corpus/characters.h"
#include "data/corpus/training_data.h"
#include "inference/predictor.h"
#include "train/evaluator.h"
#include "train/loop.h"

namespace attune {

class Validator {
 public:
  /// All outlive it.
  Validator(const Model& model, const TrainingData& data, const Tokenizers& tokenizers, const Recipe& recipe,
            ThreadPool& pool);
  bool possible() const { return data_.valid.size() > 0; }
  /// The score is higher for better models, whatever the metric.
  ValidationResult operator()(const Progress& progress, double* score);

 private:
  std::vector<std::string> translations();
  std::vector<std::string> answers();
  /// Scores and samples of what is said or answered.
  void judge_texts_of(const std::vector<std::string>& lines, ValidationResult& v);
  /// What the model attends to while it says the first reference, or reads how the text begins.
  AttentionPicture picture() const;

  const Model& model_;
  const TrainingData& data_;
  const Tokenizers& tokenizers_;
  const Recipe& recipe_;
  ThreadPool& pool_;
  Evaluator evaluate_;
  double loss_by_frequency_;
  std::optional<Predictor> answer_;  // where there is a head
  std::optional<TextUnit> unit_;     // of a text, once it was counted
};

}  // namespace attune
