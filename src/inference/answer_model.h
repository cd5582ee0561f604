// A model folder opened to ask it about lines: what Classifier and Tagger have in common.
#pragma once
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/predictor.h"

namespace attune {

class AnswerModel {
 public:
  /// ErrorKind::model, with what to use instead, for models of another task.
  AnswerModel(const std::string& folder, std::initializer_list<Task> tasks, int threads);

  const OpenedModel& opened() const { return opened_; }
  const Answers& answers() const { return answers_; }
  const std::vector<std::string>& labels() const { return labels_; }
  std::vector<std::string> labels(size_t head) const;
  /// The most tokens of a text.
  int64_t longest() const { return opened_.recipe.data.max_length; }
  /// Words in a row that count as one, at most.
  int64_t ngrams() const { return ngrams_of(opened_.recipe); }
  /// What it says of texts of such ids, at most longest() each. Safe to call from several threads.
  std::vector<Prediction> ask(const Sentences& texts, int64_t batch_tokens) const;
  /// The same of a corpus whose answers are not looked at.
  std::vector<Prediction> ask(const Corpus& corpus, int64_t batch_tokens) const;
  /// What several say about parts of one text, taken together: the mean of their scores.
  Prediction mean_of(std::span<const Prediction> parts) const;

 private:
  OpenedModel opened_;
  Answers answers_;
  std::vector<std::string> labels_;
  std::vector<bool> begins_;  // ids that begin a word, of a model that answers to each
  mutable std::mutex mutex_;
  mutable ThreadPool pool_;
};

}  // namespace attune
