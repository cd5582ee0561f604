// The scores in a run's metrics.jsonl, for people who look at a model later.
#pragma once
#include <string>
#include <vector>

#include "attune/model.h"
#include "attune/trainer.h"

namespace attune {

/// The lines that tell a validation: objects with a step ("step" or "update") and numbers called after a metric (bleu,
/// chrf, accuracy, perplexity, exact) or valid_... Other lines and those cut short by a stop are passed over; a file
/// that is not there has none.
std::vector<ModelScore> read_scores(const std::string& path);
/// The lines that tell how updates go, every hundred updates or half a minute.
struct UpdateLine {
  int64_t update = 0;
  double seconds = 0;  // spent training so far
  double target_tokens_per_s = 0, memory_mb = 0;
};
std::vector<UpdateLine> read_update_lines(const std::string& path);
/// What a run has to beat, as it was found when it began: those of the last line that tells; none: no line does.
std::vector<BaselineScore> read_baselines(const std::string& path);
/// How the run went so far, but for what the recipe tells.
RunDescription read_run(const std::string& path);
/// The index of the best by a metric as recipes name it ("bleu", "loss"); -1 when none tells it.
int64_t best_score(const std::vector<ModelScore>& scores, const std::string& metric);

}  // namespace attune
