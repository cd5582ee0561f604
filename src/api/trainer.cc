#include "attune/trainer.h"

#include <atomic>
#include <filesystem>

#include "base/error.h"
#include "model/parts.h"
#include "model/unused.h"
#include "run/training_run.h"
#include "train/guidance.h"
#include "train/optimizer/optimizer.h"
#include "train/schedule.h"

namespace attune {

namespace {

std::string default_run(const std::string& recipe) {
  const std::filesystem::path path(recipe);
  return (path.parent_path() / (path.stem().string() + "-model")).string();
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
  if (depends_on_end(recipe.train.schedule)) learning_rate(recipe.train, INT64_MAX, last_update(recipe.train));
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
  body_->recipe = load_recipe_for_run(options.recipe, options.sets);
  body_->out = options.out.empty() ? default_run(options.recipe) : options.out;
  if (std::error_code ignored; std::filesystem::is_regular_file(body_->out, ignored))
    fail(ErrorKind::usage, "{} is a file, and --out names a folder\n  fix: choose another name", body_->out);
  with_places(body_->recipe.places, [&] {
    refuse_what_is_not_there(body_->recipe);
    // A run that was begun goes on, whatever it says.
    if (options.fresh || checkpoints(body_->out).empty()) refuse_unused(body_->recipe);
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
