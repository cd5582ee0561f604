#include "attune/trainer.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>

#include "api/run_folder.h"
#include "api/train_log.h"
#include "api/validator.h"
#include "attune/bench.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "model/cost.h"
#include "train/schedule.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

/// Where most runs land: what estimates of time assume before anything was measured.
constexpr double kLikelyShareOfPeak = 0.55;

std::string default_out(const std::string& recipe) {
  const fs::path path(recipe);
  return (path.parent_path() / (path.stem().string() + "-model")).string();
}

/// Means over the last updates, so that what people see does not jump.
class Smoothed {
 public:
  void add(double loss, double flops, double tokens, double seconds) {
    const double keep = std::min(0.98, 1 - 1 / (count_ + 1));
    ++count_;
    const auto mix_in = [&](double& x, double now) { x = keep * x + (1 - keep) * now; };
    mix_in(loss_, loss);
    mix_in(flops_, flops);
    mix_in(tokens_, tokens);
    mix_in(seconds_, seconds);
  }
  double loss() const { return loss_; }
  double flops_per_s() const { return flops_ / seconds_; }
  double tokens_per_s() const { return tokens_ / seconds_; }

 private:
  double count_ = 0, loss_ = 0, flops_ = 0, tokens_ = 0, seconds_ = 0;
};

}  // namespace

struct Trainer::Body {
  TrainerOptions options;
  Recipe recipe;
  std::string out;
  std::atomic<bool> stop{false};

  void refuse_what_is_not_there() const;
  TrainingPlan plan_of(const Learner& learner, const TrainingData& data, const Tokenizers& tokenizers,
                       const Progress& progress, int threads) const;
  TrainingOutcome run(const TrainingEvents& events);
};

Trainer::Trainer(const TrainerOptions& options) : body_(std::make_unique<Body>()) {
  body_->options = options;
  body_->recipe = load_recipe_for_run(options.recipe, options.sets);
  body_->out = options.out.empty() ? default_out(options.recipe) : options.out;
  body_->refuse_what_is_not_there();
}

Trainer::~Trainer() = default;
const std::string& Trainer::out() const { return body_->out; }
void Trainer::stop() noexcept { body_->stop.store(true); }
TrainingOutcome Trainer::run(const TrainingEvents& events) { return body_->run(events); }

/// Words a recipe may say, but that no code stands behind.
void Trainer::Body::refuse_what_is_not_there() const {
  const auto refuse = [&](bool bad, const std::string& what, const char* fix) {
    if (bad) fail(ErrorKind::recipe, "{}: {} can't be trained by this version\n  fix: {}", options.recipe, what, fix);
  };
  refuse(recipe.task != Task::translate, "this task", "set task = \"translate\"");
  refuse(recipe.model.shape != ModelShape::encoder_decoder, "this model.shape",
         "set model.shape = \"encoder-decoder\"");
  refuse(recipe.train.metric == "chrf" || recipe.train.metric == "accuracy",
         "train.metric = \"" + recipe.train.metric + "\"", "use bleu, exact, loss or perplexity");
  // A schedule that needs an end says so at once, not after the warm-up.
  if (depends_on_end(recipe.train.schedule)) learning_rate(recipe.train, INT64_MAX, last_update(recipe.train));
  refuse(recipe.train.batch_tokens.automatic(), "train.batch_tokens = \"auto\"", "set a number, like 4096");
}

TrainingPlan Trainer::Body::plan_of(const Learner& learner, const TrainingData& data, const Tokenizers& tokenizers,
                                    const Progress& progress, int threads) const {
  TrainingPlan p;
  p.out = out;
  p.source_vocabulary = tokenizers.source->size();
  p.target_vocabulary = tokenizers.target->size();
  p.training_pairs = data.train.size();
  p.validation_pairs = data.valid.size();
  p.tokens_per_epoch = data.train.target.tokens() + data.train.size();
  p.resumed_at = progress.updates;
  // Weights, moments and the corpus are in memory by now; gradients and activations are still to come.
  p.memory = resident_bytes() + learner.memory().gradients + learner.memory().activations;
  p.threads = threads;
  p.notes = tokenizers.notes;
  const auto add = [&](const PairReport& r, const char* what) {
    for (const std::string& s : r.sentences(recipe.data.overlong)) p.notes.push_back(std::string(what) + ": " + s);
  };
  add(data.train_report, "training data");
  add(data.valid_report, "validation data");
  if (data.held_out)
    p.notes.push_back(fmt::format("no data.valid: {} pairs are held out of the training data to validate on",
                                  thousands(data.valid.size())));
  return p;
}

TrainingOutcome Trainer::Body::run(const TrainingEvents& events) {
  std::error_code ignored;
  const bool folder_exists = fs::is_directory(out, ignored);
  if (!folder_exists && fs::exists(out, ignored)) fail(ErrorKind::usage, "{} is not a folder", out);
  ThreadPool pool(options.threads);
  const auto phase = [&](const char* what) {
    if (events.on_phase) events.on_phase(what);
  };
  std::vector<std::string> notes;
  RunFolder folder(out, recipe);
  std::optional<FolderLock> lock;
  std::optional<Checkpoint> from;
  if (folder_exists) {
    lock.emplace(out);
    if (!options.fresh) from = folder.find(notes);
    if (!options.fresh && !from && fs::exists(out + "/" + kModelName, ignored))
      fail(ErrorKind::usage,
           "{} holds a model, but no checkpoints to go on from\n  fix: give --out another folder, or replace it with "
           "--fresh",
           out);
  }

  phase(from ? "reading the checkpoint" : "learning the vocabulary");
  const Tokenizers tokenizers =
      from ? Tokenizers::load(from->path + "/" + kTokenizerName) : train_tokenizers(recipe.data, recipe.tokenizer);
  phase("reading the data");
  const TrainingData data = read_training_data(recipe.data, tokenizers.encoders(), recipe.train.seed, &pool);
  Batches(data.train, batch_options(recipe.train));  // refuses a budget that is too small
  Transformer model(recipe.model, vocabularies_of(recipe, tokenizers));
  model.initialize(recipe.train.seed);
  const int64_t longest = std::max(data.train.source.longest, data.train.target.longest) + 1;
  Learner learner(model, recipe.train, longest, pool);
  Progress progress;
  if (from) progress = folder.resume(*from, learner, data.content_hash, &pool);

  // Nothing was written up to here: a mistake in the recipe or the data leaves no trace.
  make_folder(out);
  if (!lock) {
    lock.emplace(out);
    folder.expect_empty();
  }
  if (options.fresh) folder.clear();
  const double peak = peak_gflops(pool.threads()) * 1e9;
  TrainLog log(out, progress.updates, events);
  TrainingPlan plan = plan_of(learner, data, tokenizers, progress, pool.threads());
  plan.notes.insert(plan.notes.begin(), notes.begin(), notes.end());
  plan.parameters = model.parameters().numbers();
  const double flops_per_token = training_flops(model, data.train.source.tokens(), data.train.target.tokens(),
                                                data.train.target.tokens() / std::max<int64_t>(data.train.size(), 1)) /
                                 static_cast<double>(std::max<int64_t>(data.train.target.tokens(), 1));
  const auto tokens_at_end = [&](const Period& stop) {
    const auto per_batch = static_cast<double>(recipe.train.batch_tokens.tokens * recipe.train.accumulate);
    switch (stop.unit) {
      case Period::Unit::updates:
        return stop.count * per_batch;
      case Period::Unit::epochs:
        return stop.count * static_cast<double>(plan.tokens_per_epoch);
      case Period::Unit::tokens:
        return stop.count;
      default:
        return 0.0;
    }
  };
  const double tokens = tokens_at_end(recipe.train.stop) - static_cast<double>(progress.target_tokens);
  plan.seconds = recipe.train.stop.unit == Period::Unit::minutes
                     ? std::max(0.0, 60 * recipe.train.stop.count - progress.seconds)
                     : std::max(0.0, tokens * flops_per_token / (peak * kLikelyShareOfPeak));
  log.plan(plan);
  if (events.on_plan) events.on_plan(plan);

  Validator validator(learner, data, tokenizers, recipe, pool);
  Smoothed smoothed;
  double updated_at = progress.seconds;
  ValidationResult last_validation;
  double last_score = 0;  // higher is better
  LoopEvents loop;
  loop.on_update = [&](const UpdateResult& r, const Progress& p) {
    smoothed.add(r.loss, r.flops, static_cast<double>(r.target_tokens), p.seconds - updated_at);
    updated_at = p.seconds;
    TrainingStatus s;
    s.update = p.updates;
    s.last_update = last_update(recipe.train);
    s.share_done = share_done(recipe.train.stop, p, data.train.size());
    s.epoch = static_cast<double>(p.data.epoch) +
              static_cast<double>(p.data.example) / static_cast<double>(data.train.size());
    s.loss = smoothed.loss();
    s.rate = r.rate;
    s.target_tokens_per_s = smoothed.tokens_per_s();
    s.share_of_peak = smoothed.flops_per_s() / peak;
    s.seconds = p.seconds;
    if (s.share_done > 0) s.seconds_left = p.seconds * (1 - s.share_done) / s.share_done;
    s.memory = resident_bytes();
    log.update(s, p.sentences);
    if (events.on_update) events.on_update(s);
  };
  if (validator.possible())
    loop.validate = [&](const Progress& p) {
      phase("validating");
      last_validation = validator(p, &last_score);
      return last_score;
    };
  loop.on_validated = [&](double, bool best, const Progress& p) {
    last_validation.best = best;
    last_validation.best_update = p.best_update;
    last_validation.best_score = std::abs(p.best_score);
    log.validation(last_validation);
    if (events.on_validation) events.on_validation(last_validation);
    if (best) folder.save_best(learner, p, tokenizers);
  };
  loop.save = [&](const Progress& p, bool milestone) {
    phase("saving");
    if (milestone) folder.add_milestone(p.updates, last_score);
    folder.save(learner, p, tokenizers, data.content_hash);
  };
  loop.stop_asked = [&] { return stop.load(); };

  const auto outcome = [&](Ended ended) {
    TrainingOutcome o;
    o.reason = ended == Ended::asked      ? TrainingOutcome::Reason::interrupted
               : ended == Ended::finished ? TrainingOutcome::Reason::finished
                                          : TrainingOutcome::Reason::out_of_patience;
    o.model = out;
    o.updates = progress.updates;
    o.best_update = progress.best_update;
    if (progress.best_update > 0) o.best_score = std::abs(progress.best_score);
    o.metric = recipe.train.metric;
    o.seconds = progress.seconds;
    return o;
  };
  if (const auto before = over(recipe.train, progress, data.train.size()); before && folder.is_complete(progress)) {
    TrainingOutcome o = outcome(*before);
    o.was_over = true;
    log.nothing_to_do(o);
    return o;
  }
  const Ended ended = run_updates(learner, data.train, recipe.train, progress, loop);
  TrainingOutcome o = outcome(ended);
  if (ended == Ended::asked) {
    log.outcome(o);
    return o;
  }
  if (recipe.train.average > 1) phase("averaging");
  o.averaged = folder.save_average(learner, progress, tokenizers, &pool);
  if (o.averaged == 0 && !validator.possible()) folder.save_best(learner, progress, tokenizers);
  o.has_score = validator.possible();
  if (o.averaged > 0 && o.has_score) {
    phase("validating");
    double score = 0;
    o.final_score = validator(progress, &score).score;
  } else {
    o.final_score = o.best_score;
  }
  log.outcome(o);
  return o;
}

}  // namespace attune
