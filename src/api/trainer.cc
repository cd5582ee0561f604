#include "attune/trainer.h"

#include <atomic>
#include <filesystem>

#include "base/error.h"
#include "model/parts.h"
#include "model/unused.h"
#include "model/usual_position.h"
#include "run/training_run.h"
#include "train/guidance.h"
#include "train/optimizer/optimizer.h"
#include "train/schedule.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

std::string default_run(const std::string& recipe) {
  const fs::path path(recipe);
  return (path.parent_path() / (path.stem().string() + "-model")).string();
}

/// The folder of a run stands for the recipe that its newest checkpoint has: paths in there are absolute. Another
/// folder is refused.
void take_recipe_of_run(TrainerOptions& options) {
  std::error_code ignored;
  const std::string folder = options.recipe;
  if (!fs::is_directory(folder, ignored)) return;
  if (const auto found = latest_checkpoint(folder)) {
    options.recipe = found->checkpoint.path + "/" + kRecipeName;
    if (options.out.empty()) options.out = folder;
    return;
  }
  const auto has = [&](const char* name) { return fs::exists(fs::path(folder) / name, ignored); };
  if (has(kTrainerName))
    fail(ErrorKind::usage,
         "{} is one checkpoint of a run\n  fix: name the run's folder to go on with it, or let a recipe begin with it: "
         "--set train.start={}",
         folder, folder);
  if (has(kModelName))
    fail(ErrorKind::usage,
         "{} holds a model, but no checkpoints to go on from\n  fix: to train it further, give a recipe and --set "
         "train.start={}",
         folder, folder);
  fail(ErrorKind::usage, "{} is a folder, and there is no run in it\n  fix: give a recipe; `attune new` writes one",
       folder);
}

/// Words a recipe may say, but that no code stands behind.
void refuse_what_is_not_there(const Recipe& recipe) {
  check_optimizer(recipe.train.optimizer);
  // A vocabulary of a few words is enough to learn what can't be built.
  const std::vector<int64_t> labels(kinds_of_head(recipe.model.head).size(), 8);
  ModelSizes sizes{8, 8, recipe.data.max_length + 2, labels};
  if (reads_rows(recipe.task)) sizes.source_width = 8;
  if (recipe.task == Task::image) sizes.source_grid = {1024, 1024};  // what is too small for it, the pictures tell
  const Model model(recipe.model, sizes, recipe.train.freeze);
  check_parts(model.parameters(), recipe.train.start_parts, "train.start_parts");
  Guidance(model, recipe.train.guide);
  // A schedule that needs an end says so at once, not after the warm-up.
  check_end(recipe.train);
}

}  // namespace

struct Trainer::Body {
  TrainerOptions options;
  Recipe recipe;
  std::string out;
  std::atomic<bool> stop{false};
};

Trainer::Trainer(const TrainerOptions& options) : body_(std::make_unique<Body>()) {
  body_->options = options;
  take_recipe_of_run(body_->options);
  const TrainerOptions& o = body_->options;
  body_->recipe = load_recipe_for_run(o.recipe, o.sets);
  body_->out = o.out.empty() ? default_run(o.recipe) : o.out;
  if (std::error_code ignored; std::filesystem::is_regular_file(body_->out, ignored))
    fail(ErrorKind::usage, "{} is a file, and --out names a folder\n  fix: choose another name", body_->out);
  with_places(body_->recipe.places, [&] {
    settle_position(body_->recipe);
    // A run that was begun goes on, whatever it says.
    if (o.fresh || checkpoints(body_->out).empty()) refuse_unused(body_->recipe);
    refuse_what_is_not_there(body_->recipe);
    const DataSettings& data = body_->recipe.data;
    check_files("data.train", data.train, data.encoding);
    check_files("data.valid", data.valid, data.encoding);
    check_files("data.alignment", data.alignment, "utf-8");
    check_files("data.weights", data.weights.texts, "utf-8");
    if (const std::string& vectors = body_->recipe.train.vectors; !vectors.empty())
      check_files("train.vectors", {vectors}, "utf-8");
  });
}

Trainer::~Trainer() = default;
const std::string& Trainer::out() const { return body_->out; }
void Trainer::stop() noexcept { body_->stop.store(true); }

TrainingOutcome Trainer::run(const TrainingEvents& events) {
  return with_places(body_->recipe.places,
                     [&] { return TrainingRun(body_->options, body_->recipe, body_->out, events)(body_->stop); });
}

}  // namespace attune
