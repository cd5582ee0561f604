// What a run tells while it trains: lines for people in train.log, lines of JSON in metrics.jsonl, and the
// same for TensorBoard in events.out.tfevents.*.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "attune/trainer.h"
#include "base/files.h"
#include "show/event_file.h"
#include "train/loop.h"

namespace attune {

class TrainLog {
 public:
  /// Goes on with the files of `dir`. What they have of updates after `resumed_at` is dropped: they come again.
  TrainLog(const std::string& dir, int64_t resumed_at, const TrainingEvents& events);

  void plan(const TrainingPlan& plan);
  /// Writes a line every hundred updates and every half minute; `sentences` are those of the run so far.
  void update(const TrainingStatus& status, int64_t sentences);
  /// Of an update that was skipped: `why` it was, and the parameter whose gradient is not a number.
  void skipped(const TrainingStatus& status, const std::string& why, const std::string& parameter);
  /// What metrics.jsonl and the event file have of updates after the good one is dropped: they come again.
  void rolled_back(const std::string& why, const Progress& progress);
  /// Validations have lowered the rate to this share of the recipe's.
  void plateau(double rate_scale);
  /// What there is to beat; a line of metrics.jsonl unless `known`, because it has one.
  void baselines(const std::vector<BaselineScore>& all, int64_t update, bool known);
  void validation(const ValidationResult& v);
  void outcome(const TrainingOutcome& o);
  /// Of a run that was over before.
  void nothing_to_do(const TrainingOutcome& o);
  void say(const std::string& text);

 private:
  /// Opens metrics.jsonl and the event file, without what they have of updates after `update`.
  void open_records(int64_t update);
  struct Record;
  /// A line of metrics.jsonl; its numbers go to the event file too.
  void record(const Record& record);
  std::string dir_;
  AppendedFile log_;
  std::optional<AppendedFile> metrics_;
  std::optional<show::EventFile> events_;
  std::function<void(const std::string&)> on_line_, on_metrics_;
  double last_ = -1e9;
};

}  // namespace attune
