// Shows a run of a Trainer: a live line on a terminal, Marian-style lines elsewhere, JSON lines with --json.
//
//   Progress progress(session);
//   progress.finish(trainer.run(progress.events()));
#pragma once
#include "attune/trainer.h"
#include "cli/interrupt.h"
#include "cli/session.h"
#include "cli/terminal.h"

namespace attune::cli {

class Progress {
 public:
  explicit Progress(const Session& session);
  /// To be handed to Trainer::run(); the Progress must outlive it.
  TrainingEvents events();
  /// How it ended; `next`: and what to do with the model.
  void finish(const TrainingOutcome& outcome, bool next = true);

  /// How a signal handler may speak meanwhile.
  Interruptible::Talk talk() const;
  /// The last that is known of the run.
  const TrainingStatus& status() const { return status_; }
  const TrainingPlan& plan() const { return plan_; }

 private:
  void show(const TrainingStatus& status);
  void show_phase(const char* what);

  bool live_ = false, json_ = false, quiet_ = false;
  Paint paint_;
  LiveLine line_;
  TrainingPlan plan_;
  TrainingStatus status_;
  double drawn_at_ = -1e9;
};

}  // namespace attune::cli
