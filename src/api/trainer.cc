#include "attune/trainer.h"

#include <atomic>
#include <filesystem>

#include "api/training_run.h"
#include "base/error.h"
#include "train/optimizer/optimizer.h"
#include "train/schedule.h"

namespace attune {

namespace {

std::string default_out(const std::string& recipe) {
  const std::filesystem::path path(recipe);
  return (path.parent_path() / (path.stem().string() + "-model")).string();
}

/// Words a recipe may say, but that no code stands behind.
void refuse_what_is_not_there(const Recipe& recipe, const std::string& place) {
  const auto refuse = [&](bool bad, const std::string& what, const char* fix) {
    if (bad) fail(ErrorKind::recipe, "{}: {} can't be trained by this version\n  fix: {}", place, what, fix);
  };
  refuse(recipe.task != Task::translate && recipe.task != Task::language, "this task",
         "set task = \"translate\" or \"language\"");
  refuse(recipe.task == Task::translate && recipe.model.shape != ModelShape::encoder_decoder, "this model.shape",
         "set model.shape = \"encoder-decoder\"");
  refuse(recipe.train.metric == "chrf" || recipe.train.metric == "accuracy",
         "train.metric = \"" + recipe.train.metric + "\"", "use bleu, exact, loss or perplexity");
  check_optimizer(recipe.train.optimizer);
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
  body_->out = options.out.empty() ? default_out(options.recipe) : options.out;
  refuse_what_is_not_there(body_->recipe, options.recipe);
}

Trainer::~Trainer() = default;
const std::string& Trainer::out() const { return body_->out; }
void Trainer::stop() noexcept { body_->stop.store(true); }

TrainingOutcome Trainer::run(const TrainingEvents& events) {
  return TrainingRun(body_->options, body_->recipe, body_->out, events)(body_->stop);
}

}  // namespace attune
