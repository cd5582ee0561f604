// What a run tells while it trains: lines for people in train.log, lines of JSON in metrics.jsonl.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "attune/trainer.h"
#include "base/files.h"

namespace attune {

class TrainLog {
 public:
  /// Goes on with the files of `dir`. What metrics.jsonl has of updates after `resumed_at` is dropped: they come again.
  TrainLog(const std::string& dir, int64_t resumed_at, const TrainingEvents& events);

  void plan(const TrainingPlan& plan);
  /// Writes a line every hundred updates and every half minute; `sentences` are those of the run so far.
  void update(const TrainingStatus& status, int64_t sentences);
  void validation(const ValidationResult& v);
  void outcome(const TrainingOutcome& o);
  /// Of a run that was over before.
  void nothing_to_do(const TrainingOutcome& o);
  void say(const std::string& text);

 private:
  void record(const std::string& json);
  AppendedFile log_, metrics_;
  std::function<void(const std::string&)> on_line_, on_metrics_;
  double last_ = -1e9;
};

}  // namespace attune
