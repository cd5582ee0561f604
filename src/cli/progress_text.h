// How a run looks to people: text only, for a terminal of a given width. cli/progress.h shows it.
#pragma once
#include <string>
#include <vector>

#include "attune/trainer.h"
#include "cli/terminal.h"

namespace attune::cli {

/// The run in one line that never reaches the last column (a terminal might break it there). Where there is no room for
/// all, the bar becomes shorter, then the least important figures go.
///   [#####-----]  46 %  up 3,680/8,000  ep 12.3  loss 2.91  15.4k tok/s  61 % of peak  18 min left  173 MB
std::string status_line(const TrainingStatus& status, int width);
/// Lines of a file that are done, of those there are.
///   [#####-----]  46 %  1,380/3,000 lines  12 s left
std::string lines_line(int64_t done, int64_t total, double seconds, int width);
/// The same with a green bar.
std::string painted(const std::string& status_line, const Paint& paint);

/// What is known before the first update: a few lines, and one for each note.
std::string plan_text(const TrainingPlan& plan, int width, const Paint& paint);
/// What there is to beat, a line each.
std::string baselines_text(const std::vector<BaselineScore>& all, int width, const Paint& paint);
/// Scores, and samples below them, cut to the width.
std::string validation_text(const ValidationResult& result, int width, const Paint& paint);
/// How it ended.
std::string outcome_text(const TrainingOutcome& outcome, const Paint& paint);
/// What to do next.
std::string next_text(const TrainingOutcome& outcome);

}  // namespace attune::cli
