// One run of a Trainer: what it reads, what it holds while it trains, and what it tells on the way.
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "attune/trainer.h"
#include "run/run_folder.h"
#include "run/start_model.h"
#include "run/time_to_go.h"
#include "run/train_log.h"
#include "run/validator.h"

namespace attune {

/// Means over the last updates, so that what people see does not jump.
class Smoothed {
 public:
  void add(const UpdateResult& r, double seconds);
  double loss() const { return loss_; }
  double guide_loss() const { return guide_loss_; }
  double flops_per_s() const { return flops_ / seconds_; }
  double tokens_per_s() const { return tokens_ / seconds_; }

 private:
  double count_ = 0, finite_ = 0, loss_ = 0, guide_loss_ = 0, flops_ = 0, tokens_ = 0, seconds_ = 0;
};

/// What was in the run's folder before: a checkpoint to go on from, or nothing. Keeps other runs out.
struct OpenedFolder {
  /// A budget that was chosen when the run began is put into the recipe.
  OpenedFolder(const std::string& out, Recipe& recipe, bool fresh);
  /// A mistake leaves no trace: what was made for a run that did not come to its begin is removed.
  ~OpenedFolder();
  OpenedFolder(const OpenedFolder&) = delete;
  OpenedFolder& operator=(const OpenedFolder&) = delete;

  /// Makes the folder where there is none, for what must be written before the run begins.
  void make();

  RunFolder folder;
  std::optional<FolderLock> lock;  // none while there is no folder
  std::optional<Checkpoint> from;
  std::vector<std::string> notes;
  bool made = false, begun = false;
};

class TrainingRun {
 public:
  /// Reads everything; nothing is written yet, so that a mistake in the recipe or the data leaves no trace.
  TrainingRun(const TrainerOptions& options, const Recipe& recipe, const std::string& out,
              const TrainingEvents& events);
  TrainingOutcome operator()(const std::atomic<bool>& stop);

 private:
  void phase(const char* what) const;
  TrainingData read_data();
  TrainingPlan plan() const;
  Tokenizers first_tokenizers() const;
  const TrainOptions& fit_to_memory();
  /// By what such a model costs, where nothing was measured.
  double likely_seconds() const;
  TimeToGo time_to_go() const;
  TrainingStatus status(const UpdateResult& r, const Progress& p);
  LoopEvents loop_events(TrainLog& log, const std::atomic<bool>& stop);
  TrainingOutcome outcome(Ended ended) const;
  void finish(TrainingOutcome& o);
  std::vector<FinalWeights> judge_all();
  void judge(FinalWeights weights, std::vector<FinalWeights>& all);

  const TrainerOptions& options_;
  Recipe recipe_;
  const std::string& out_;
  const TrainingEvents& events_;
  ThreadPool pool_;
  OpenedFolder place_;
  std::optional<StartModel> start_;  // none when the run goes on from a checkpoint
  Tokenizers tokenizers_;
  TrainingData data_;
  Model model_;
  int64_t held_ = 0;  // bytes, of all but the model and what training it takes
  Learner learner_;
  Validator validator_;
  Progress progress_;
  double peak_ = 0;                // operations a second
  std::optional<Progress> tried_;  // updates before the first, to see what they take
  TimeToGo time_;
  Smoothed smoothed_;
  double updated_at_ = 0;
  ValidationResult last_validation_;
  double last_score_ = 0;  // higher is better
  double rate_scale_ = 1;
};

}  // namespace attune
