#include "run/judge_models.h"

#include <cmath>

#include "attune/metric.h"
#include "base/error.h"
#include "checkpoint/model_folder.h"
#include "inference/model_files.h"
#include "run/validator.h"

namespace attune {

namespace {

TrainingData validation_data(const Recipe& recipe, const Tokenizers& tokenizers, ThreadPool& pool) {
  TrainingData data;
  check_files("data.valid", recipe.data.valid, recipe.data.encoding);
  data.valid = read_corpus(recipe.data.valid, "data.valid", recipe.data, encoders_of(recipe, tokenizers), &pool,
                           [&](std::string_view source, std::string_view target) {
                             data.valid_source.emplace_back(source);
                             data.valid_target.emplace_back(target);
                           })
                   .corpus;
  return data;
}

}  // namespace

JudgedModels judge_models(const std::vector<std::string>& folders, int threads) {
  JudgedModels judged;
  const Recipe recipe = load_recipe_for_run(folders.front() + "/" + kRecipeName);
  if (recipe.data.valid.empty()) {
    judged.why_not = "the recipe names no validation data";
    return judged;
  }
  judged.metric = recipe.train.metric;
  ThreadPool pool(threads);
  OpenedModel opened = open_model_files(folders.front(), &pool);
  TrainingData data;
  try {
    data = validation_data(recipe, opened.tokenizers, pool);
  } catch (const Error& e) {  // moved, edited: what was asked for is done without it
    if (e.kind() != ErrorKind::data && e.kind() != ErrorKind::io) throw;
    judged.why_not = std::string(e.what()).substr(0, std::string_view(e.what()).find('\n'));
    return judged;
  }
  Validator validate(*opened.model, data, opened.tokenizers, recipe, pool);
  for (const std::string& folder : folders) {
    load_parameters(folder + "/" + kModelName, opened.model->parameters(), &pool);
    double score = 0;
    validate({}, &score);
    judged.scores.push_back(less_is_better(judged.metric) ? -score : score);
  }
  return judged;
}

}  // namespace attune
