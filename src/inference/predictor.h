// Asks a model that says something about texts: the answers to all texts of a corpus, for validation and tests, and to
// lines that users have.
#pragma once
#include <string>
#include <vector>

#include "data/corpus/answers.h"
#include "inference/model_files.h"
#include "train/shard_pass.h"

namespace attune {

/// What a model says about one text.
struct Prediction {
  std::vector<int32_t> answers;
  std::vector<float> scores;  // a row for each answer, or one: of all labels, or the number
};

class Predictor {
 public:
  /// All outlive it.
  Predictor(const Model& model, const Tokenizers& tokenizers, const Recipe& recipe, ThreadPool& pool);

  /// In the order of the corpus; what it has for answers is not looked at, but for how many there are of words. The
  /// bits do not depend on the threads, nor on what else is in the corpus.
  std::vector<Prediction> operator()(const Corpus& corpus);
  /// What it says of each example, as the data would have it, to be compared with `right`.
  std::vector<std::string> texts(const Corpus& corpus, const std::vector<std::string>& right);
  const Answers& answers() const { return answers_; }

 private:
  const Model& model_;
  const TrainOptions& options_;
  ThreadPool& pool_;
  Answers answers_;
  std::vector<float> moves_;  // none: all are possible
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// How texts and answers of a recipe's task become ids, and back.
Answers answers_of(const Recipe& recipe, const Tokenizers& tokenizers);
/// Words in a row that a text's ids stand for, at most.
int64_t ngrams_of(const Recipe& recipe);
Encoders encoders_of(const Recipe& recipe, const Tokenizers& tokenizers);

}  // namespace attune
