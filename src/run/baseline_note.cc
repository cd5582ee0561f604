#include "run/baseline_note.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attune/metric.h"
#include "base/limits.h"
#include "data/corpus/characters.h"
#include "run/metrics_file.h"
#include "run/task_metrics.h"

namespace attune {

namespace {

/// Memory that counting takes, at most, for each token that is looked at.
constexpr int64_t kBytesOfToken = 512;

/// What helps models of a task that learned less than counting does.
std::string advice(const Recipe& recipe) {
  if (recipe.task == Task::classify && !is_bag(recipe.model))
    return fmt::format(
        "train longer (train.stop), at another train.learning_rate, or a bag of words: --set model.shape=bag --set "
        "model.head={}",
        recipe.model.head.kind);
  if (recipe.task == Task::language)
    return "train longer (train.stop), or a larger model (model.d_model, model.decoder_layers)";
  return "train longer (train.stop), or at another train.learning_rate";
}

}  // namespace

std::vector<BaselineScore> BaselineNote::scores() const {
  BaselineTask task = task_;
  if (const int64_t memory = task.recipe.train.memory.bytes; memory > 0)
    task.most_tokens = std::min(task.most_tokens, memory / kBytesOfToken);
  std::vector<BaselineScore> all;
  for (const BaselineGuess& guess : guess_by_baselines(task)) {
    BaselineScore& b = all.emplace_back();
    b.name = guess.name;
    if (!guess.loss) {
      for (const MetricResult& r : judge_texts(guess.lines, task.data.valid_target, task.recipe, workers_of(task.pool)))
        b.scores.emplace_back(r.name, r.score);
      continue;
    }
    b.scores = {{"loss", *guess.loss}, {"perplexity", std::exp(*guess.loss)}};
    if (const TextUnit u = text_unit(*task.tokenizers.target, task.data.valid); !u.name.empty())
      b.scores.emplace_back(u.name, u.bits(*guess.loss));
  }
  forget_freed_memory();
  return all;
}

void BaselineNote::find(const std::string& resumed, int64_t update, TrainLog& log) {
  if (!task_.recipe.train.baseline) return;
  if (!resumed.empty()) all_ = read_baselines(resumed + "/metrics.jsonl");
  const bool known = !all_.empty();
  if (!known) {
    if (events_.on_phase) events_.on_phase("looking for what is to beat");
    all_ = scores();
  }
  if (all_.empty()) return;
  log.baselines(all_, update, known);
  if (events_.on_baselines) events_.on_baselines(all_);
}

void BaselineNote::judge(TrainingOutcome& o) const {
  if (o.reason == TrainingOutcome::Reason::interrupted || !o.has_score) return;
  const double sign = less_is_better(o.metric) ? -1 : 1;
  for (const BaselineScore& b : all_)
    for (const auto& [name, value] : b.scores) {
      if (name != o.metric || (!o.baseline.empty() && sign * value <= sign * o.baseline_score)) continue;
      o.baseline = b.name;
      o.baseline_score = value;
    }
  if (o.baseline.empty()) return;
  o.beats_baseline = sign * o.final_score > sign * o.baseline_score;
  const bool both_perfect = sign > 0 && o.final_score >= 100 && o.baseline_score >= 100;
  if (!o.beats_baseline && !both_perfect)
    o.baseline_warning = fmt::format("the model is no better than \"{}\" ({} {:.4g} against {:.4g})\n  fix: {}",
                                     o.baseline, o.metric, o.final_score, o.baseline_score, advice(task_.recipe));
}

}  // namespace attune
