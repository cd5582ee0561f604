// What a comparison measures on a run that came to its end. Kept in the run's folder, so that a comparison that goes on
// shows what was measured then.
#pragma once
#include <functional>
#include <string>

#include "attune/compare.h"
#include "base/load.h"
#include "model/model.h"

namespace attune {

struct MeasureTalk {
  std::function<void(const char* what)> phase;
  std::function<bool()> stop_asked;
  LoadMeter meter = {};  // from the begin of the training on
};

/// The figures of the model in `folder`; none when a stop was asked for meanwhile.
std::optional<VariantFigures> measure_run(const std::string& folder, int threads, const MeasureTalk& talk);
/// Validations on the way, from metrics.jsonl.
std::vector<CurvePoint> learning_curve(const std::string& folder);

/// Lengths 64, 128 ... 16,384.
std::vector<WorkAtLength> count_work(const Model& model);

/// At most so many rows and columns: neighbours become one, with the largest of their weights.
AttentionPicture pooled(const AttentionPicture& picture, size_t most);

}  // namespace attune
