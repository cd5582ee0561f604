#include "run/training_run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "attune/bench.h"
#include "attune/new_recipe.h"
#include "base/error.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "model/cost.h"
#include "run/baseline_note.h"
#include "run/word_vectors.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

/// Where most runs land: what estimates of time assume before anything was measured.
constexpr double kLikelyShareOfPeak = 0.55;

/// Of the program itself: its code, the libraries it needs, and what they hold.
constexpr int64_t kProgramBytes = 24 << 20;
/// Of a piece of a vocabulary: its text, and what finds it in one.
constexpr int64_t kPieceBytes = 256;

/// What a run holds beside the model and what training it takes. It is computed, not asked of the system: what a
/// process happens to hold differs from one start to the next, and so would the budget that is chosen by it, and the
/// weights.
int64_t held_beside(const TrainingData& data, const Tokenizers& t) {
  const int64_t pieces = t.rows ? 0 : t.source->size() + (t.joint() ? 0 : t.target->size());
  return kProgramBytes + data.bytes() + kPieceBytes * pieces;
}

}  // namespace

void Smoothed::add(const UpdateResult& r, double seconds) {
  const double keep = std::min(0.98, 1 - 1 / (count_ + 1));
  ++count_;
  const auto mix_in = [&](double& x, double now) { x = keep * x + (1 - keep) * now; };
  if (!r.skipped()) {
    const double keep_loss = std::min(0.98, 1 - 1 / (finite_ + 1));
    ++finite_;
    loss_ = keep_loss * loss_ + (1 - keep_loss) * r.loss;
    guide_loss_ = keep_loss * guide_loss_ + (1 - keep_loss) * r.guide_loss;
  }
  mix_in(flops_, r.flops);
  mix_in(tokens_, static_cast<double>(r.target_tokens));
  mix_in(seconds_, seconds);
}

// --- before the first update -----------------------------------------------------------------------------------------

OpenedFolder::OpenedFolder(const std::string& out, Recipe& recipe, bool fresh) : folder(out, recipe) {
  std::error_code ignored;
  if (!fs::is_directory(out, ignored)) {
    if (fs::exists(out, ignored)) fail(ErrorKind::usage, "{} is not a folder", out);
    return;
  }
  lock.emplace(out);
  if (fresh) return;
  from = folder.find(notes);
  if (from && recipe.train.batch_tokens.automatic())
    recipe.train.batch_tokens = load_recipe(from->path + "/" + kRecipeName).train.batch_tokens;
  if (!from && fs::exists(out + "/" + kModelName, ignored))
    fail(ErrorKind::usage,
         "{} holds a model, but no checkpoints to go on from\n  fix: give --out another folder, or replace it with "
         "--fresh",
         out);
}

TrainingRun::TrainingRun(const TrainerOptions& options, const Recipe& recipe, const std::string& out,
                         const TrainingEvents& events)
    : options_(options),
      recipe_(recipe),
      out_(out),
      events_(events),
      pool_(options.threads),
      place_(out, recipe_, options.fresh),
      start_(place_.from || recipe_.train.start.empty() ? std::nullopt : std::make_optional<StartModel>(recipe_)),
      tokenizers_(first_tokenizers()),
      data_(read_data()),
      model_(recipe_.model, sizes_of(recipe_, tokenizers_), recipe_.train.freeze),
      learner_(model_, fit_to_memory(), largest_of(data_.train), pool_),
      validator_(model_, data_, tokenizers_, recipe_, pool_) {
  if (recipe_.data.documents && !model_.memories().empty())
    fail(ErrorKind::recipe,
         "data.documents = true: no text sees another, and this attention remembers the window before\n"
         "  fix: leave data.documents out, or another model.attention");
  model_.initialize(recipe_.train.seed);
  phase("trying how fast it is");
  tried_ = try_updates(learner_, data_.train, recipe_.train, place_.from ? place_.from->step : 0);
  if (tried_) {
    learner_.restart();
    model_.initialize(recipe_.train.seed);
  }
  if (!place_.from && !recipe_.train.vectors.empty())
    place_.notes.push_back(give_word_vectors(recipe_.train.vectors, *tokenizers_.source, model_));
  if (start_) {
    start_->give(model_, tokenizers_, &pool_);
    place_.folder.set_start(start_->hash());
  }
  learner_.begin();
  if (place_.from) progress_ = place_.folder.resume(*place_.from, learner_, data_.content_hash, &pool_);
  updated_at_ = progress_.seconds;
  rate_scale_ = progress_.rate_scale;
  place_.begun = true;
}

void OpenedFolder::make() {
  if (lock) return;
  std::error_code ignored;
  const bool was_there = fs::exists(folder.dir(), ignored);
  make_folder(folder.dir());
  lock.emplace(folder.dir());
  folder.expect_empty();
  made = !was_there;
}

OpenedFolder::~OpenedFolder() {
  std::error_code ignored;
  if (made && !begun) fs::remove_all(folder.dir(), ignored);
}

Tokenizers TrainingRun::first_tokenizers() const {
  phase(place_.from                  ? "reading the checkpoint"
        : recipe_.tokenizer_of_start ? "reading the start"
                                     : "learning the vocabulary");
  if (place_.from) return Tokenizers::load(place_.from->path + "/" + kTokenizerName);
  if (recipe_.tokenizer_of_start) {
    Tokenizers t = start_->tokenizers();
    t.labels = learn_labels_of(recipe_);
    return t;
  }
  return learn_tokenizers(recipe_);
}

TrainingData TrainingRun::read_data() {
  phase("reading the data");
  CorpusPlace place = corpus_place(out_, tokenizers_, says_numbers(recipe_));
  place.read_again = options_.fresh;
  place.open = [&] { place_.make(); };
  TrainingData data =
      read_training_data(recipe_.data, encoders_of(recipe_, tokenizers_), recipe_.train.seed, &pool_, &place);
  let_pieces_drop(tokenizers_, recipe_.train, data.train);
  if (tokenizers_.labels) {
    weigh_labels(recipe_.train.label_weights, tokenizers_.labels->size(), data.train);
    const UnseenLabels unseen = unseen_labels(data.valid_target, *tokenizers_.labels, recipe_);
    if (unseen.labels > 0 && unseen.answers == unseen.of)
      fail(ErrorKind::data,
           "data.valid: no label there is one of the training data; the first is {}\n  fix: check its columns, which "
           "data.columns names for all files",
           in_quotes(shown_name(unseen.first)));
    if (unseen.labels > 0) place_.notes.push_back(unseen.sentence("validation"));
  }
  if (!recipe_.train.batch_tokens.automatic()) check_budget(data.train, batch_options(recipe_.train));
  return data;
}

const TrainOptions& TrainingRun::fit_to_memory() {
  const int64_t longest = data_.train.longest();
  forget_freed_memory();  // what reading the data took and gave back is not held
  held_ = held_beside(data_, tokenizers_);
  if (recipe_.train.memory.bytes > 0) {
    const auto memory = memory_by_budget(model_, recipe_.train, largest_of(data_.train), pool_.threads());
    const bool chosen = recipe_.train.batch_tokens.automatic();
    int64_t& tokens = recipe_.train.batch_tokens.tokens;
    // What the allocator makes of it is a little more: a budget that is chosen leaves room for that.
    const int64_t spare = chosen ? recipe_.train.memory.bytes / 32 : 0;
    const auto need = [&](TokenBudget b) { return held_ + memory(b).total() + spare; };
    if (place_.from) {  // its budget is part of what it is
      if (const int64_t bytes = need(recipe_.train.batch_tokens); bytes > recipe_.train.memory.bytes)
        place_.notes.push_back(fmt::format(
            "this takes up to {}, more than train.memory = {}: use fewer --threads, or train.recompute = true",
            human_bytes(bytes), recipe_.train.memory.text()));
      return recipe_.train;
    }
    tokens = budget_in(recipe_.train, longest, need).tokens;
    if (chosen) {
      // A budget beyond the corpus would be a promise about nothing.
      const Corpus& c = data_.train;
      const CorpusSizes sizes = c.sizes();
      const int64_t all = std::max(c.rows(), c.one_sided() ? 0 : c.source_rows() + sizes.examples);
      tokens = std::min(tokens, (std::max(all, longest) + kTokenStep - 1) / kTokenStep * kTokenStep);
      place_.notes.push_back(
          fmt::format("train.batch_tokens = {}, to fit in train.memory = {}", tokens, recipe_.train.memory.text()));
    }
  }
  return recipe_.train;
}

void TrainingRun::phase(const char* what) const {
  if (events_.on_phase) events_.on_phase(what);
}

TrainingPlan TrainingRun::plan() const {
  TrainingPlan p;
  p.out = out_;
  p.parameters = model_.parameters().numbers();
  if (!tokenizers_.rows) {
    p.source_vocabulary = tokenizers_.source->size();
    p.target_vocabulary = tokenizers_.target->size();
  }
  p.labels = tokenizers_.labels ? tokenizers_.labels->size() : 0;
  p.unit = data_.train.window > 0        ? "tokens"
           : data_.train.one_sided()     ? "lines"
           : recipe_.task == Task::image ? "pictures"
           : recipe_.task == Task::graph ? "graphs"
                                         : "pairs";
  p.training_pairs = data_.train.size();
  p.validation_pairs = data_.valid.size();
  p.tokens_per_epoch = data_.train.rows();
  p.resumed_at = progress_.updates;
  p.memory = held_ + learner_.memory().total();
  p.threads = pool_.threads();
  p.seconds = time_.seconds(progress_);
  p.notes = place_.notes;
  p.notes.insert(p.notes.end(), tokenizers_.notes.begin(), tokenizers_.notes.end());
  if (start_) p.notes.insert(p.notes.end(), start_->notes().begin(), start_->notes().end());
  if (const Parameters& all = model_.parameters(); !start_ && all.frozen() > 0)
    p.notes.push_back(fmt::format("{} of {} parameters are frozen", all.frozen(), all.named().size()));
  const auto add = [&](const PairReport& r, const char* what) {
    for (const std::string& s : r.sentences(recipe_.data.overlong)) p.notes.push_back(std::string(what) + ": " + s);
  };
  add(data_.train_report, "training data");
  add(data_.valid_report, "validation data");
  const std::vector<std::string> overlaps = data_.overlaps.sentences();
  p.notes.insert(p.notes.end(), overlaps.begin(), overlaps.end());
  const TrainOptions& t = recipe_.train;
  if (t.label_smoothing > 0 && gives_answers(recipe_.task) && !can_be_smoothed(recipe_.model.head))
    p.notes.push_back(fmt::format("train.label_smoothing has no effect: model.head = {} has no softmax over labels",
                                  recipe_.model.head.literal()));
  if (t.average > 1 && t.validate.never() && t.save.unit == Period::Unit::minutes)
    p.notes.push_back("nothing will be averaged, since checkpoints go by the clock: give train.save in updates");
  const Mixture& mixture = data_.train.mixture;
  for (size_t i = 0; i < mixture.count(); ++i) {
    const auto drawn = static_cast<double>(mixture.shares()[i]);
    p.notes.push_back(fmt::format("corpus {} of {}: {:.1f} % of an epoch, each of its {} {} {:.2f} times", i + 1,
                                  mixture.count(), 100 * drawn / static_cast<double>(data_.train.size()),
                                  thousands(mixture.borders[i + 1] - mixture.borders[i]), p.unit,
                                  drawn / static_cast<double>(mixture.borders[i + 1] - mixture.borders[i])));
  }
  if (data_.held_out)
    p.notes.push_back(fmt::format("no data.valid: {} {} are held out of the training data to validate on",
                                  thousands(data_.valid.size()), p.unit));
  return p;
}

double TrainingRun::likely_seconds() const {
  const Corpus& corpus = data_.train;
  // Of an example as most are: the mean of the lines, or a window of texts.
  const int64_t examples = corpus.window > 0 ? corpus.rows() / corpus.window : corpus.sizes().examples;
  const Segments source = Segments::single(corpus.source_rows() / examples + 1);
  const Segments target = Segments::single(corpus.rows() / examples);
  const double epoch = static_cast<double>(corpus.rows()) / static_cast<double>(target.rows()) *
                       training_flops(model_, {corpus.one_sided() ? nullptr : &source, target});
  const Period& stop = recipe_.train.stop;
  double tokens = stop.count;  // of the target side, at the end
  const auto per_epoch = static_cast<double>(corpus.rows());
  // A batch is full when its larger side is, and ends with the epoch.
  const double larger = std::max(per_epoch, corpus.one_sided() ? 0 : static_cast<double>(source.rows() * examples));
  if (stop.unit == Period::Unit::updates)
    tokens *= std::min(per_epoch, per_epoch / larger * static_cast<double>(recipe_.train.batch_tokens.tokens)) *
              static_cast<double>(recipe_.train.accumulate);
  if (stop.unit == Period::Unit::epochs) tokens *= per_epoch;
  return tokens / per_epoch * epoch / (peak_ * kLikelyShareOfPeak);
}

TimeToGo TrainingRun::time_to_go() const {
  TimeToGo::Validations validations;
  if (validator_.possible()) {
    const bool means = recipe_.train.average > 1;
    validations = {data_.valid.rows(), recipe_.task == Task::translate, (means ? 2 : 0) + (recipe_.train.ema > 0)};
  }
  TimeToGo time(recipe_.train, data_.train.size(), validations, tried_, likely_seconds());
  time.begin(progress_);
  return time;
}

// --- on the way ------------------------------------------------------------------------------------------------------

TrainingStatus TrainingRun::status(const UpdateResult& r, const Progress& p) {
  smoothed_.add(r, p.seconds - updated_at_);
  updated_at_ = p.seconds;
  TrainingStatus s;
  s.update = p.updates;
  s.last_update = last_update(recipe_.train);
  s.share_done = share_done(recipe_.train.stop, p, data_.train.size());
  s.epoch = epochs_done(p, data_.train.size());
  s.loss = smoothed_.loss();
  if (recipe_.train.guide.weight > 0) s.guide_loss = smoothed_.guide_loss();
  s.rate = r.rate;
  s.target_tokens_per_s = smoothed_.tokens_per_s();
  s.share_of_peak = smoothed_.flops_per_s() / peak_;
  s.seconds = p.seconds;
  s.seconds_left = time_.seconds(p);
  s.skipped = p.skipped;
  s.memory = resident_bytes();
  return s;
}

LoopEvents TrainingRun::loop_events(TrainLog& log, const std::atomic<bool>& stop) {
  LoopEvents loop;
  loop.on_update = [&](const UpdateResult& r, const Progress& p) {
    const TrainingStatus s = status(r, p);
    if (r.skipped()) log.skipped(s, r.why_skipped(), r.bad);
    log.update(s, p.sentences);
    if (events_.on_update) events_.on_update(s);
  };
  if (validator_.possible())
    loop.validate = [&](const Progress& p) {
      phase("validating");
      const Learner::ScopedAverage weights(learner_);
      last_validation_ = validator_(p, &last_score_);
      return last_score_;
    };
  loop.on_validated = [&](double, bool best, const Progress& p) {
    time_.validated(last_validation_.seconds);
    last_validation_.best = best;
    last_validation_.best_update = p.best_update;
    last_validation_.best_score = std::abs(p.best_score);
    log.validation(last_validation_);
    if (events_.on_validation) events_.on_validation(last_validation_);
    if (p.rate_scale != rate_scale_) log.plateau(p.rate_scale);
    rate_scale_ = p.rate_scale;
    if (best && place_.lock->is_there()) place_.folder.save_best(learner_, p, tokenizers_);
  };
  loop.save = [&](const Progress& p, bool milestone) {
    phase("saving");
    if (milestone) place_.folder.add_milestone(p.updates, last_score_);
    if (!place_.lock->is_there()) place_.folder.rescue(learner_, p, tokenizers_, data_.content_hash);
    place_.folder.save(learner_, p, tokenizers_, data_.content_hash);
  };
  loop.restore = [&](int64_t good_update) {
    phase("rolling back");
    return place_.folder.roll_back(good_update, learner_, data_.content_hash, &pool_);
  };
  loop.on_rolled_back = [&](const std::string& why, const Progress& p) {
    rate_scale_ = p.rate_scale;
    log.rolled_back(why, p);
  };
  loop.stop_asked = [&] { return stop.load(); };
  return loop;
}

// --- the whole of it -------------------------------------------------------------------------------------------------

TrainingOutcome TrainingRun::operator()(const std::atomic<bool>& stop) {
  place_.make();
  if (options_.fresh) place_.folder.clear();
  peak_ = peak_gflops(pool_.threads()) * 1e9;
  time_ = time_to_go();
  TrainLog log(out_, progress_.updates, events_);
  const TrainingPlan foreseen = plan();
  log.plan(foreseen);
  if (events_.on_plan) events_.on_plan(foreseen);

  if (const auto before = over(recipe_.train, progress_, data_.train.size());
      before && place_.folder.is_complete(progress_)) {
    TrainingOutcome o = outcome(*before);
    o.was_over = true;
    o.to_go_on = o.reason != TrainingOutcome::Reason::finished ? "raise train.patience"
                 : depends_on_end(recipe_.train.schedule)
                     ? "begin another with its weights (--set train.start=" + out_ +
                           " --out ...), since its learning "
                           "rate came down to the end"
                     : "raise train.stop";
    log.nothing_to_do(o);
    return o;
  }
  // To go back to: the start itself may be gone by then.
  if (start_) place_.folder.save(learner_, progress_, tokenizers_, data_.content_hash);
  BaselineNote baselines({recipe_, data_, tokenizers_, &pool_}, events_);
  baselines.find(place_.from ? out_ : "", progress_.updates, log);
  const Ended ended = run_updates(learner_, data_.train, recipe_.train, progress_, loop_events(log, stop));
  TrainingOutcome o = outcome(ended);
  if (ended != Ended::asked) finish(o);
  baselines.judge(o);
  log.outcome(o);
  return o;
}

}  // namespace attune
