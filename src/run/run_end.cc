// How a run ends: what it could leave is judged on the validation set, and the best of it becomes the model.
#include <algorithm>
#include <cmath>

#include "attune/metric.h"
#include "attune/new_recipe.h"
#include "base/error.h"
#include "base/text.h"
#include "run/training_run.h"

namespace attune {

std::string FinalWeights::text() const {
  const std::string update = "update " + thousands(updates.back());
  switch (kind) {
    case Kind::best:
      return "the best one, " + update;
    case Kind::last:
      return "the last one, " + update;
    case Kind::trained:
      return "that of " + update + " without its moving average";
    case Kind::mean:
      break;
  }
  return fmt::format("the mean of updates {} to {} ({} checkpoints)", thousands(updates.front()),
                     thousands(updates.back()), updates.size());
}

std::string TrainingOutcome::model_text() const {
  if (judged.empty()) return "";
  std::string text = judged.front().text();
  if (!has_score) return text + "; there was nothing to validate on";
  text += fmt::format(": {} {:.4g}", metric, final_score);
  for (size_t i = 1; i < judged.size(); ++i) {
    const FinalWeights& w = judged[i];
    const std::string what = w.kind == FinalWeights::Kind::best
                                 ? "the best one alone, update " + thousands(w.updates.back()) + ","
                                 : w.text();
    text += fmt::format("; {} had {:.4g}", what, w.score);
  }
  return text;
}

TrainingOutcome TrainingRun::outcome(Ended ended) const {
  TrainingOutcome o;
  o.reason = ended == Ended::asked      ? TrainingOutcome::Reason::interrupted
             : ended == Ended::finished ? TrainingOutcome::Reason::finished
                                        : TrainingOutcome::Reason::out_of_patience;
  o.model = out_;
  o.task = guesses_missing_words(recipe_) ? "missing words" : task_names()[static_cast<size_t>(recipe_.task)];
  o.updates = progress_.updates;
  o.best_update = progress_.best_update;
  if (progress_.best_update > 0) o.best_score = std::abs(progress_.best_score);
  o.metric = recipe_.train.metric;
  o.seconds = progress_.seconds;
  return o;
}

/// Judges the model as it is, and adds what it was found to be, unless that is no number.
void TrainingRun::judge(FinalWeights weights, std::vector<FinalWeights>& all) {
  phase("validating");
  double score = 0;
  validator_(progress_, &score);
  weights.score = less_is_better(recipe_.train.metric) ? -score : score;
  if (!std::isnan(score)) all.push_back(std::move(weights));
}

/// All that the run could end with; the best of it first.
std::vector<FinalWeights> TrainingRun::judge_all() {
  std::vector<FinalWeights> all{place_.folder.best(progress_)};
  if (recipe_.train.ema > 0) judge({FinalWeights::Kind::trained, {progress_.updates}}, all);
  const Learner::ScopedAverage aside(learner_);  // with train.ema the trained weights wait while the model has others
  for (FinalWeights& mean : place_.folder.means(progress_)) {
    phase("averaging");
    place_.folder.take(mean, model_, &pool_);
    judge(std::move(mean), all);
  }
  const bool less = less_is_better(recipe_.train.metric);
  const auto worse = [&](const FinalWeights& a, const FinalWeights& b) {
    return less ? a.score > b.score : a.score < b.score;
  };
  const auto first = std::ranges::max_element(all, worse);  // of equals the first: nothing is mixed without a reason
  std::rotate(all.begin(), first, first + 1);
  return all;
}

void TrainingRun::finish(TrainingOutcome& o) {
  const RunFolder& folder = place_.folder;
  o.has_score = validator_.possible();
  if (o.has_score)
    o.judged = judge_all();
  else if (const auto means = folder.means(progress_); !means.empty())
    o.judged = {means.front()};
  else
    o.judged = {{FinalWeights::Kind::last, {progress_.updates}}};
  const FinalWeights& chosen = o.judged.front();
  const bool mean = chosen.kind == FinalWeights::Kind::mean;
  o.averaged = mean ? std::ssize(chosen.updates) : 0;
  o.final_score = chosen.score;
  if (chosen.kind != FinalWeights::Kind::trained) folder.take(chosen, model_, &pool_);
  place_.folder.save_final(chosen, o.has_score, learner_, progress_, tokenizers_);
}

}  // namespace attune
