// The course of a run: updates until the end, with validations and checkpoints on the way. Everything that decides
// about the weights depends on counters alone, which a checkpoint keeps; the clock decides only when to save once more.
#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "data/batches.h"
#include "train/learner.h"
#include "train/loss_trend.h"

namespace attune {

/// How far a run has come: all that a checkpoint must remember beside weights and moments.
struct Progress {
  int64_t updates = 0, batches = 0;
  int64_t source_tokens = 0, target_tokens = 0, sentences = 0;
  double seconds = 0;                    // spent training, over all resumptions
  DataPosition data;                     // where the next batch begins
  int64_t validations = 0, stalled = 0;  // stalled: validations since the best one
  double best_score = -std::numeric_limits<double>::infinity();
  int64_t best_update = 0;
  int64_t validated_update = -1;  // the last one
  int64_t steps = 0;              // updates that were not skipped
  int64_t skipped = 0, skipped_in_row = 0;
  double rate_scale = 1;        // of the schedule's rate: plateaus and accidents lower it
  int64_t waited = 0;           // schedule plateau: validations since the best one, or since the rate was lowered
  int64_t good_update = 0;      // the last checkpoint to roll back to, at a moment that counters decide; 0: none yet
  int64_t rolled_back_to = -1;  // where that was last done
  LossTrend trend;
};

/// So many skipped updates in a row are a reason to roll back.
constexpr int64_t kBadInARow = 10;

/// What the loop is handed; it knows nothing of files or text.
struct LoopEvents {
  /// After every update.
  std::function<void(const UpdateResult&, const Progress&)> on_update;
  /// Judges the weights: higher is better, NaN is a reason to roll back. Missing: no validation. `progress` has its
  /// counters already.
  std::function<double(const Progress&)> validate;
  /// Told the score and whether it is the best so far, before the checkpoint.
  std::function<void(double score, bool best, const Progress&)> on_validated;
  /// `milestone`: at a moment that depends on counters alone, so that it may be averaged: right after a validation, or
  /// where the recipe wants none, when train.save, in counters, is due.
  std::function<void(const Progress&, bool milestone)> save;
  /// Brings weights, optimiser and what else a checkpoint has back to update `good_update`, 0: to the beginning.
  /// Returns what was known then.
  std::function<Progress(int64_t good_update)> restore;
  /// Told after that why it had to be, and how it goes on.
  std::function<void(const std::string& why, const Progress&)> on_rolled_back;
  /// Whether someone wants the run to stop for now.
  std::function<bool()> stop_asked;
};

enum class Ended { finished, out_of_patience, asked };

/// Epochs done, the last one in part.
double epochs_done(const Progress& progress, int64_t corpus_size);
/// How far a run is in the unit of a period.
double reached(Period::Unit unit, const Progress& progress, int64_t corpus_size);
/// Whether a period ends between two states of a run. Minutes are those spent on updates.
bool crosses(const Period& period, const Progress& before, const Progress& after, int64_t corpus_size);
/// The share of the run that is done, 0 to 1; 0 where nobody knows.
double share_done(const Period& stop, const Progress& progress, int64_t corpus_size);
/// The number of the last update where the recipe tells it, else 0.
int64_t last_update(const TrainOptions& options);
/// The same for the schedule, at an update after which the run will have come so far: where the end is in epochs or
/// tokens, by how far so many updates will have come, so that a run ends where the schedule does. 0 where only the
/// clock knows.
double foreseen_last(const TrainOptions& options, const Progress& after, int64_t corpus_size);

/// How a run cuts its corpus into batches.
BatchOptions batch_options(const TrainOptions& options);

/// How a run ended that stands there; nothing when it is to go on.
std::optional<Ended> over(const TrainOptions& options, const Progress& progress, int64_t corpus_size);
/// Goes on from `progress` to the end of the run. Updates whose gradients are not numbers are skipped; ten in a row, a
/// weight or a validation that is no number, or a loss that has given back half of what was learned (LossTrend) roll
/// the run back to the last good state, and it goes on at half the rate. When there was no good state since the last
/// time: ErrorKind::diverged. Weights that are not numbers are never saved.
Ended run_updates(Learner& learner, const Corpus& corpus, const TrainOptions& options, Progress& progress,
                  const LoopEvents& events);

}  // namespace attune
