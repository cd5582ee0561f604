// What a run has to beat: what can be said of its validation set without a model (baseline/baseline.h). Found before
// the first update, kept in metrics.jsonl so that a run that goes on has it at once, and compared with the model at the
// end.
#pragma once
#include <string>
#include <vector>

#include "attune/trainer.h"
#include "baseline/baseline.h"
#include "run/train_log.h"

namespace attune {

class BaselineNote {
 public:
  /// All outlive it.
  BaselineNote(const BaselineTask& task, const TrainingEvents& events) : task_(task), events_(events) {}

  /// Says them, and writes down those that are not in the folder of a run that goes on; "": of a new one.
  void find(const std::string& resumed, int64_t update, TrainLog& log);
  /// Whether the model that a run ended with is better than the best of them.
  void judge(TrainingOutcome& o) const;

 private:
  std::vector<BaselineScore> scores() const;

  BaselineTask task_;
  const TrainingEvents& events_;
  std::vector<BaselineScore> all_;
};

}  // namespace attune
