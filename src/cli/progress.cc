#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "attune/text.h"
#include "cli/output.h"
#include "cli/progress_text.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

constexpr double kSecondsBetweenDrawings = 0.1;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Progress::Progress(const Session& session)
    : live_(is_live(STDERR_FILENO) && !session.quiet && !session.json),
      json_(session.json),
      quiet_(session.quiet),
      paint_{live_ && has_colours(STDERR_FILENO)} {}

Interruptible::Talk Progress::talk() const {
  using Talk = Interruptible::Talk;
  return quiet_ ? Talk::none : live_ ? Talk::over_a_live_line : Talk::line;
}

void Progress::show(const TrainingStatus& status) {
  const double now = seconds_now();
  const bool last = status.last_update > 0 && status.update >= status.last_update;
  if (now - drawn_at_ < kSecondsBetweenDrawings && !last) return;
  drawn_at_ = now;
  // Two columns stay free for the ^C that a terminal shows: on a line of its own it would push this one out of reach.
  const std::string line = status_line(status, terminal_columns(STDERR_FILENO) - 2);
  line_.show(painted(line, paint_), static_cast<int>(line.size()));
}

/// What takes a while stands instead of the figures that do not move meanwhile.
void Progress::show_phase(const char* what) {
  const int room = std::max(1, terminal_columns(STDERR_FILENO) - 1);
  const std::string begin = status_.update > 0 ? fmt::format("update {}: ", thousands(status_.update)) : "";
  const std::string line = fit_columns(begin + what + " ...", room);
  line_.show(paint_.faint(line), std::min(room, static_cast<int>(line.size())));
  drawn_at_ = -1e9;
}

TrainingEvents Progress::events() {
  TrainingEvents e;
  e.on_plan = [this](const TrainingPlan& p) {
    plan_ = p;
    if (live_) line_.above(plan_text(p, terminal_columns(STDERR_FILENO), paint_));
  };
  e.on_update = [this](const TrainingStatus& s) {
    status_ = s;
    if (live_) show(s);
  };
  if (live_) {
    e.on_phase = [this](const char* what) { show_phase(what); };
    e.on_baselines = [this](const std::vector<BaselineScore>& all) {
      line_.above(baselines_text(all, terminal_columns(STDERR_FILENO), paint_));
    };
    e.on_validation = [this](const ValidationResult& v) {
      line_.above(validation_text(v, terminal_columns(STDERR_FILENO), paint_));
    };
  } else if (json_) {
    e.on_metrics = [](const std::string& line) {
      print(line + "\n");
      finish_output();  // whoever follows the run gets it now
    };
  }
  if (!live_ && !quiet_) e.on_log = [](const std::string& line) { tell("{}\n", line); };
  return e;
}

void Progress::finish(const TrainingOutcome& o, bool next) {
  line_.clear();
  // metrics.jsonl has a line for the end of a run, but none for its interruptions.
  if (json_ && o.reason == TrainingOutcome::Reason::interrupted)
    print(to_json({{"update", o.updates}, {"interrupted", true}, {"seconds", rounded(o.seconds, 1)}}) + "\n");
  if (quiet_) return;
  if (live_) tell("{}", outcome_text(o, paint_));
  if (next) tell("{}", next_text(o));
}

}  // namespace attune::cli
