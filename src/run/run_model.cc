// The model that a run leaves in its folder: the best one, or a mean of some, as validation says.
#include <algorithm>

#include "attune/metric.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/weights_text.h"
#include "recipe/writer.h"
#include "run/run_folder.h"

namespace attune {

void RunFolder::save_best(Learner& learner, const Progress& progress, const Tokenizers& tokenizers) {
  ModelContents c = contents(learner, progress, tokenizers);
  c.metadata[kWeights] = "best";
  save_model(dir_, c);
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

std::string RunFolder::source_of(int64_t update) const {
  if (std::string path = checkpoint_path(dir_, update); is_whole_model(path)) return path;
  if (!is_whole_model(dir_)) return "";
  const Metadata metadata = SafetensorsFile(dir_ + "/" + kModelName).metadata();
  const auto says = [&](const char* key, const std::string& value) {
    const auto at = metadata.find(key);
    return at != metadata.end() && at->second == value;
  };
  return says(kWeights, "best") && says(kUpdate, std::to_string(update)) ? dir_ : "";
}

FinalWeights RunFolder::best(const Progress& progress) const {
  const auto shown = [&](double score) { return less_is_better(recipe_.train.metric) ? -score : score; };
  if (progress.best_update > 0 && !source_of(progress.best_update).empty())
    return {FinalWeights::Kind::best, {progress.best_update}, shown(progress.best_score)};
  FinalWeights found{FinalWeights::Kind::best, {progress.updates}, shown(milestones_.back().score)};
  double score = milestones_.back().score;
  for (const Milestone& m : milestones_) {
    if (!(m.score > score) || source_of(m.update).empty()) continue;
    score = m.score;
    found = {FinalWeights::Kind::best, {m.update}, shown(score)};
  }
  return found;
}

FinalWeights RunFolder::mean_of(std::span<const Milestone> milestones) const {
  FinalWeights w{FinalWeights::Kind::mean, {}, 0};
  for (const Milestone& m : milestones) w.updates.push_back(m.update);
  std::ranges::sort(w.updates);
  return w;
}

std::vector<FinalWeights> RunFolder::means(const Progress& progress) const {
  if (recipe_.train.average == 1) return {};
  std::vector<Milestone> chosen = to_average();
  // What was learned in the first half is another model's; those that validated best have shown what they are.
  std::erase_if(chosen, [&](const Milestone& m) {
    return (recipe_.train.average_of == AverageOf::last && 2 * m.update < progress.updates) ||
           !is_whole_model(checkpoint_path(dir_, m.update));
  });
  if (chosen.size() < 2) return {};
  std::vector<FinalWeights> all{mean_of(chosen)};
  if (const size_t half = (chosen.size() + 1) / 2; half >= 2) all.push_back(mean_of(std::span(chosen).last(half)));
  return all;
}

void RunFolder::take(const FinalWeights& weights, Model& model, ThreadPool* pool) const {
  std::vector<std::string> folders;
  for (const int64_t update : weights.updates) folders.push_back(source_of(update));
  const Weights mean = average_models(folders);
  Parameters& parameters = model.parameters();
  for (const NamedParameter& p : parameters.named()) {
    const std::vector<float>& values = mean.by_name.at(p.name).values;
    std::copy(values.begin(), values.end(), parameters.data() + p.offset);
  }
  parameters.repack(pool);
}

bool RunFolder::is_complete(const Progress& progress) const try {
  open_model(dir_);
  if (read_file(dir_ + "/" + kRecipeName) != recipe_text(recipe_)) return false;
  const Metadata metadata = SafetensorsFile(dir_ + "/" + kModelName).metadata();
  const auto ended = metadata.find(kEnded);
  return ended != metadata.end() && ended->second == std::to_string(progress.updates);
} catch (const Error& e) {
  if (e.kind() != ErrorKind::model) throw;
  return false;  // missing, or damaged: it is written again
}

void RunFolder::save_final(const FinalWeights& weights, bool judged, Learner& learner, const Progress& progress,
                           const Tokenizers& tokenizers) {
  ModelContents c = contents(learner, progress, tokenizers);
  c.weights = tensors_of(learner.model().parameters());
  c.metadata[kWeights] = kWeightsKinds[static_cast<size_t>(weights.kind)];
  c.metadata[kUpdate] = std::to_string(weights.updates.back());
  c.metadata[kEnded] = std::to_string(progress.updates);
  if (judged) c.metadata[kScore] = fmt::format("{} {:.6g}", recipe_.train.metric, weights.score);
  if (weights.kind == FinalWeights::Kind::mean) {
    std::vector<std::string> names;
    for (const int64_t update : weights.updates) names.push_back(checkpoint_name(update));
    c.metadata[kAverageOf] = join(names, " ");
  }
  save_model(dir_, c);
}

}  // namespace attune
