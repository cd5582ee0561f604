#include "inference/answer_model.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoint/model_folder.h"

namespace attune {

namespace {

OpenedModel opened_for(const std::string& folder, std::initializer_list<Task> tasks, ThreadPool& pool) {
  OpenedModel m = open_model_files(folder, &pool);
  if (std::find(tasks.begin(), tasks.end(), m.recipe.task) != tasks.end()) return m;
  refuse_model(m.recipe, folder);
}

}  // namespace

AnswerModel::AnswerModel(const std::string& folder, std::initializer_list<Task> tasks, int threads)
    : answers_({}, nullptr), pool_(threads) {
  opened_ = opened_for(folder, tasks, pool_);
  answers_ = answers_of(opened_.recipe, opened_.tokenizers);
  for (int32_t i = 0; i < opened_.tokenizers.labels->size(); ++i) labels_.push_back(opened_.tokenizers.labels->name(i));
  if (opened_.recipe.task == Task::tag) begins_ = word_begins(*opened_.tokenizers.source);
}

std::vector<std::string> AnswerModel::labels(size_t head) const {
  std::vector<std::string> all;
  for (int64_t i = 0; i < answers_.counts()[head]; ++i) all.push_back(answers_.label(head, i));
  return all;
}

std::vector<Prediction> AnswerModel::ask(const Sentences& texts, int64_t batch_tokens) const {
  if (texts.count() == 0) return {};
  Corpus corpus;
  corpus.answers = true;
  if (!begins_.empty()) corpus.word_begins = std::make_shared<const std::vector<bool>>(begins_);
  for (int64_t i = 0; i < texts.count(); ++i) {
    const auto ids = texts[i];
    const auto words = begins_.empty() ? 1 : std::count_if(ids.begin(), ids.end(), [&](int32_t id) {
      return begins_[static_cast<size_t>(id)];
    });
    const std::vector<int32_t> nothing(static_cast<size_t>(words) * answers_.heads().size(), 0);
    corpus.add({ids, nothing, 1}, Sides::two);
  }
  return ask(corpus, batch_tokens);
}

std::vector<Prediction> AnswerModel::ask(const Corpus& corpus, int64_t batch_tokens) const {
  Recipe recipe = opened_.recipe;
  recipe.train.batch_tokens.tokens = batch_tokens;
  const std::lock_guard lock(mutex_);
  return Predictor(*opened_.model, opened_.tokenizers, recipe, pool_)(corpus);
}

Prediction AnswerModel::mean_of(std::span<const Prediction> parts) const {
  Prediction mean = parts[0];
  if (parts.size() == 1) return mean;
  for (size_t i = 0; i < mean.scores.size(); ++i) {
    double sum = 0;
    for (const Prediction& p : parts) sum += static_cast<double>(p.scores[i]);
    mean.scores[i] = static_cast<float>(sum / static_cast<double>(parts.size()));
  }
  Arena arena;
  Ctx ctx(arena);
  const Pass pass{ctx, opened_.model->parameters()};
  const Tensor scores(mean.scores.data(), Shape{1, std::ssize(mean.scores)});
  mean.answers = opened_.model->head()->answers(pass, scores);
  return mean;
}

}  // namespace attune
