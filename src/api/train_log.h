// What a run tells while it trains: lines for people in train.log, lines of JSON in metrics.jsonl, and the
// same for TensorBoard in events.out.tfevents.*.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attune/trainer.h"
#include "base/files.h"
#include "show/event_file.h"

namespace attune {

class TrainLog {
 public:
  using Json = nlohmann::ordered_json;
  /// Goes on with the files of `dir`. What they have of updates after `resumed_at` is dropped: they come again.
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
  void record(int64_t update, const Json& json);
  AppendedFile log_, metrics_;
  show::EventFile events_;
  std::function<void(const std::string&)> on_line_, on_metrics_;
  double last_ = -1e9;
};

}  // namespace attune
