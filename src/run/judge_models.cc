#include "run/judge_models.h"

#include <cmath>

#include "attune/metric.h"
#include "base/error.h"
#include "checkpoint/model_folder.h"
#include "inference/model_files.h"
#include "run/validation_data.h"
#include "run/validator.h"

namespace attune {

JudgedModels judge_models(const std::vector<std::string>& folders, int threads) {
  JudgedModels judged;
  const Recipe recipe = load_recipe_for_run(folders.front() + "/" + kRecipeName);
  judged.why_not = why_no_validation_data(recipe);
  if (!judged.why_not.empty()) return judged;
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
  if (data.valid.size() == 0) {
    judged.why_not = "there is nothing to validate on";
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
