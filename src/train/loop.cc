#include "train/loop.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "data/prefetch.h"

namespace attune {

double reached(Period::Unit unit, const Progress& p, int64_t corpus_size) {
  switch (unit) {
    case Period::Unit::updates:
      return static_cast<double>(p.updates);
    case Period::Unit::epochs:
      return epochs_done(p, corpus_size);
    case Period::Unit::tokens:
      return static_cast<double>(p.target_tokens);
    case Period::Unit::minutes:
      return p.seconds / 60;
  }
  return 0;
}

namespace {

[[noreturn]] void fail_diverged(const std::string& why, const Progress& p, double rate) {
  fail(ErrorKind::diverged,
       "{} at update {}, at a learning rate of {:.3g}, and again after going back to update {}: the run has diverged\n"
       "  fix: lower train.learning_rate, lengthen train.warmup or set train.clip = 1.0, and train with --fresh",
       why, thousands(p.updates), rate, thousands(p.good_update));
}

constexpr const char* kNoLoss = "the loss on the validation data is not a number";

/// What a validation does to the rate where the schedule goes by them.
void look_for_plateau(const TrainOptions& options, bool best, Progress& progress) {
  if (options.schedule != Schedule::plateau) return;
  progress.waited = best ? 0 : progress.waited + 1;
  if (progress.waited < options.plateau_patience) return;
  progress.rate_scale *= options.plateau_factor;
  progress.waited = 0;
}

/// Batches one after another, made ahead; where an update has several, they are counted first by making them twice, so
/// that no more than one is held.
class UpdateSource {
 public:
  UpdateSource(const Corpus& corpus, const TrainOptions& options, const DataPosition& from)
      : source_(corpus, batch_options(options)), count_(options.accumulate) {
    source_.seek(from);
    if (count_ > 1) {
      ahead_.emplace(corpus, batch_options(options));
      ahead_->seek(from);
    }
    prefetch_.emplace(source_);
  }
  /// Of the next update, after which there is something to foresee; false: `stop` said so.
  template <class Stop>
  bool foresee(const Learner& learner, UpdateBatches& batches, const Stop& stop) {
    batches = {};
    if (count_ == 1) {
      first_ = &prefetch_->next();
      learner.foresee(*first_, batches);
      return true;
    }
    for (int64_t i = 0; i < count_; ++i) {
      if (stop()) return false;
      ahead_->next(counted_);
      learner.foresee(counted_, batches);
    }
    return true;
  }
  const Batch& next() { return count_ == 1 ? *first_ : prefetch_->next(); }

 private:
  Batches source_;
  int64_t count_;
  std::optional<Batches> ahead_;
  Batch counted_;
  const Batch* first_ = nullptr;
  std::optional<Prefetch> prefetch_;  // a thread that reads from source_
};

}  // namespace

double epochs_done(const Progress& p, int64_t corpus_size) {
  return static_cast<double>(p.data.epoch) +
         static_cast<double>(p.data.example) / static_cast<double>(std::max<int64_t>(corpus_size, 1));
}

bool crosses(const Period& period, const Progress& before, const Progress& after, int64_t corpus_size) {
  if (period.never()) return false;
  const auto times = [&](const Progress& p) { return std::floor(reached(period.unit, p, corpus_size) / period.count); };
  return times(after) > times(before);
}

double share_done(const Period& stop, const Progress& progress, int64_t corpus_size) {
  return stop.never() ? 0 : std::min(reached(stop.unit, progress, corpus_size) / stop.count, 1.0);
}

int64_t last_update(const TrainOptions& options) {
  return options.stop.unit == Period::Unit::updates ? static_cast<int64_t>(options.stop.count) : 0;
}

double foreseen_last(const TrainOptions& options, const Progress& after, int64_t corpus_size) {
  if (options.stop.unit == Period::Unit::updates) return static_cast<double>(last_update(options));
  if (options.stop.unit == Period::Unit::minutes) return 0;
  const double share = share_done(options.stop, after, corpus_size);
  return share > 0 ? static_cast<double>(after.updates) / share : 0;
}

BatchOptions batch_options(const TrainOptions& options) {
  BatchOptions b;
  b.tokens = options.batch_tokens.tokens;
  b.seed = options.seed;
  b.piece_dropout = options.piece_dropout;
  b.mask = options.mask;
  return b;
}

std::optional<Ended> over(const TrainOptions& options, const Progress& progress, int64_t corpus_size) {
  if (!options.stop.never() && share_done(options.stop, progress, corpus_size) >= 1) return Ended::finished;
  if (options.patience > 0 && progress.stalled >= options.patience) return Ended::out_of_patience;
  return std::nullopt;
}

Ended run_updates(Learner& learner, const Corpus& corpus, const TrainOptions& options, Progress& progress,
                  const LoopEvents& events) {
  std::optional<UpdateSource> source;
  source.emplace(corpus, options, progress.data);
  UpdateBatches foreseen;

  const LossTrend::Scale scale{std::log(static_cast<double>(learner.model().sizes().target_vocabulary)),
                               corpus.window > 0};
  double loss = 0;                                               // of the last update
  int64_t saved = progress.updates > 0 ? progress.updates : -1;  // where a run goes on, it is
  const auto good = [&] {
    return progress.skipped_in_row == 0 && (progress.trend.count == 0 || progress.trend.calm(loss, scale));
  };
  const auto ended = [&] { return over(options, progress, corpus.size()); };
  // False: the weights say nothing that is a number.
  const auto validate = [&] {
    ++progress.validations;
    progress.validated_update = progress.updates;
    if (events.validate) {
      const double score = events.validate(progress);
      if (std::isnan(score)) return false;
      // What may yet be given up is not kept as the best.
      const bool best = progress.skipped_in_row == 0 && score > progress.best_score;
      progress.stalled = best ? 0 : progress.stalled + 1;
      if (best) {
        progress.best_score = score;
        progress.best_update = progress.updates;
      }
      look_for_plateau(options, best, progress);
      events.on_validated(score, best, progress);
    }
    if (good()) progress.good_update = progress.updates;
    events.save(progress, true);
    saved = progress.updates;
    return true;
  };
  const auto roll_back = [&](const std::string& why, double rate) {
    const Progress bad = progress;
    progress = events.restore(bad.good_update);  // also when it is of no use: what is left behind is good
    if (bad.rolled_back_to == progress.updates) fail_diverged(why, bad, rate);
    progress.seconds = bad.seconds;
    progress.skipped = bad.skipped;
    progress.skipped_in_row = 0;
    progress.rate_scale = bad.rate_scale / 2;
    progress.rolled_back_to = progress.updates;
    source.emplace(corpus, options, progress.data);
    events.on_rolled_back(fmt::format("{} at update {}", why, thousands(bad.updates)), progress);
  };

  // Only when the recipe's end was moved to before what is done.
  if (ended() && progress.validated_update != progress.updates && !validate()) roll_back(kNoLoss, 0);
  Stopwatch since_save;
  while (!ended()) {
    const Stopwatch watch;
    const Progress before = progress;
    // A stop within an update gives it up: it is begun anew when the run goes on.
    const auto given_up = [&] { return options.accumulate > 1 && events.stop_asked(); };
    bool whole = source->foresee(learner, foreseen, given_up);
    if (whole) learner.begin_update(foreseen);
    Progress after = progress;
    ++after.updates;
    for (int64_t i = 0; i < foreseen.batches && whole; ++i) {
      const Batch& batch = source->next();
      learner.add(batch);
      after.target_tokens += batch.target_tokens();
      after.data = batch.next;
      whole = i + 1 == foreseen.batches || !given_up();
    }
    if (!whole) {
      if (progress.updates != saved) events.save(progress, false);
      return Ended::asked;
    }
    const UpdateResult r = learner.finish_update({foreseen_last(options, after, corpus.size()), progress.rate_scale});
    progress.updates = learner.updates();
    progress.steps = learner.steps();
    progress.skipped += r.skipped() ? 1 : 0;
    progress.skipped_in_row = r.skipped() ? progress.skipped_in_row + 1 : 0;
    progress.batches += foreseen.batches;
    progress.source_tokens += r.source_tokens;
    progress.target_tokens += r.target_tokens;
    progress.sentences += r.sentences;
    progress.data = after.data;
    progress.seconds += watch.seconds();
    loss = r.loss;
    if (!r.skipped()) progress.trend.add(loss, scale);
    events.on_update(r, progress);
    if (progress.trend.diverged(scale)) {
      roll_back(fmt::format("the loss is {:.2f}, a mean of the last {} updates, where it was {:.2f} before",
                            progress.trend.mean, LossTrend::kWindow, progress.trend.best),
                r.rate);
      continue;
    }
    if (progress.skipped_in_row >= kBadInARow) {
      roll_back(fmt::format("{} updates in a row were skipped ({})", kBadInARow, r.why_skipped()), r.rate);
      continue;
    }

    const bool stop = events.stop_asked();
    const bool save_due = crosses(options.save, before, progress, corpus.size());
    const bool by_clock = options.save.unit == Period::Unit::minutes;
    const bool validation_due = crosses(options.validate, before, progress, corpus.size()) || ended();
    if (!validation_due && !stop && !save_due && !(by_clock && since_save.seconds() >= 60 * options.save.count))
      continue;
    if (!learner.weights_finite()) {
      roll_back("a weight is not a number", r.rate);
      continue;
    }
    if (validation_due) {
      if (!validate()) {
        roll_back(kNoLoss, r.rate);
        continue;
      }
    } else {
      const bool by_counters = save_due && !by_clock;
      if (by_counters && good()) progress.good_update = progress.updates;
      events.save(progress, options.validate.never() && by_counters);
      saved = progress.updates;
    }
    since_save.restart();
    if (stop && !ended()) return Ended::asked;
  }
  return *ended();
}

}  // namespace attune
