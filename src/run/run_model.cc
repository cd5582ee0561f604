// The model that a run leaves in its folder: the best one, or a mean of some.
#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "recipe/writer.h"
#include "run/run_folder.h"

namespace attune {

void RunFolder::save_best(Learner& learner, const Progress& progress, const Tokenizers& tokenizers) {
  save_model(dir_, contents(learner, progress, tokenizers));
}

std::vector<Milestone> RunFolder::to_average() const {
  std::vector<Milestone> chosen = milestones_;
  if (recipe_.train.average_of == AverageOf::best)
    std::stable_sort(chosen.begin(), chosen.end(),
                     [](const Milestone& a, const Milestone& b) { return a.score < b.score; });
  const auto wanted = static_cast<size_t>(recipe_.train.average);
  if (chosen.size() > wanted) chosen.erase(chosen.begin(), chosen.end() - static_cast<std::ptrdiff_t>(wanted));
  return chosen;
}

std::vector<std::string> RunFolder::models_to_average() const {
  std::vector<std::string> whole;
  if (recipe_.train.average == 1) return whole;
  for (const Milestone& m : to_average())
    if (const std::string path = checkpoint_path(dir_, m.update); is_whole(path)) whole.push_back(path);
  if (whole.size() == 1) whole.clear();
  return whole;
}

bool RunFolder::is_complete(const Progress& progress) const try {
  open_model(dir_);
  if (read_file(dir_ + "/" + kRecipeName) != recipe_text(recipe_)) return false;
  const SafetensorsFile file(dir_ + "/" + kModelName);
  const auto says = [&](const char* name, int64_t value) {
    const auto at = file.metadata().find(name);
    return at == file.metadata().end() ? value == 0 : at->second == std::to_string(value);
  };
  const int64_t averaged = std::ssize(models_to_average());
  return says("averaged", averaged) &&
         says("update", averaged || progress.best_update == 0 ? progress.updates : progress.best_update);
} catch (const Error& e) {
  if (e.kind() != ErrorKind::model) throw;
  return false;  // missing, or damaged: it is written again
}

namespace {

/// The mean of these models becomes the learner's.
void take_mean(const std::vector<std::string>& models, Learner& learner, ThreadPool* pool) {
  const Weights mean = average_models(models);
  Parameters& parameters = learner.model().parameters();
  for (const NamedParameter& p : parameters.named()) {
    const std::vector<float>& values = mean.by_name.at(p.name).values;
    std::copy(values.begin(), values.end(), parameters.data() + p.offset);
  }
  parameters.repack(pool);
}

}  // namespace

void RunFolder::save_best_again(Learner& learner, const Progress& progress, const Tokenizers& tokenizers,
                                ThreadPool* pool) {
  const std::string best = checkpoint_path(dir_, progress.best_update);
  if (!is_whole(best)) return save_best(learner, progress, tokenizers);
  take_mean({best}, learner, pool);
  ModelContents c = contents(learner, progress, tokenizers);
  c.weights = tensors_of(learner.model().parameters());
  c.metadata["update"] = std::to_string(progress.best_update);
  save_model(dir_, c);
}

int64_t RunFolder::save_average(Learner& learner, const Progress& progress, const Tokenizers& tokenizers,
                                ThreadPool* pool) {
  const std::vector<std::string> chosen = models_to_average();
  if (chosen.empty()) return 0;
  take_mean(chosen, learner, pool);
  ModelContents c = contents(learner, progress, tokenizers);
  c.weights = tensors_of(learner.model().parameters());
  c.metadata["averaged"] = std::to_string(chosen.size());
  save_model(dir_, c);
  return static_cast<int64_t>(chosen.size());
}

}  // namespace attune
