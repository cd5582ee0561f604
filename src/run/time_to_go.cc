#include "run/time_to_go.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace attune {

namespace {

constexpr double kTrySeconds = 1;       // of updates that are tried,
constexpr int64_t kMostTried = 20;      // and their number at the most;
constexpr double kShareTried = 0.02;    // of the run's own, where that is less
constexpr double kSureSeconds = 2;      // of own updates, before what was tried is forgotten
constexpr double kForwardShare = 0.33;  // of an update is going forward
constexpr double kSearchShare = 1;      // what a word that is searched for costs, in updates of one

/// About how many updates are still to come.
double updates_to_come(const TrainOptions& options, const Corpus& corpus, int64_t done) {
  const Period& stop = options.stop;
  const double tokens = static_cast<double>(options.batch_tokens.tokens * options.accumulate);
  const auto rows = static_cast<double>(std::max(corpus.rows(), corpus.one_sided() ? 0 : corpus.source_rows()));
  const double epoch = std::max(1.0, rows / tokens);
  const double all = stop.unit == Period::Unit::updates  ? stop.count
                     : stop.unit == Period::Unit::epochs ? stop.count * epoch
                     : stop.unit == Period::Unit::tokens ? stop.count / tokens
                                                         : 0;
  return all - static_cast<double>(done);
}

}  // namespace

std::optional<Progress> try_updates(Learner& learner, const Corpus& corpus, const TrainOptions& options, int64_t done) {
  const int64_t most = std::min(kMostTried, static_cast<int64_t>(kShareTried * updates_to_come(options, corpus, done)));
  if (most < 2 || options.accumulate > 1) return std::nullopt;
  Batches source(corpus, batch_options(options));
  Batch batch;
  const Batch* const one = &batch;
  Progress tried;
  double first = 0;           // it has memory to take,
  std::vector<double> times;  // the others have not
  const Stopwatch all;
  while (tried.updates < most && (tried.updates == 0 || all.seconds() < kTrySeconds)) {
    const Stopwatch watch;
    source.next(batch);
    ++tried.updates;
    tried.target_tokens += batch.target_tokens();
    tried.data = batch.next;
    learner.update({&one, 1}, {foreseen_last(options, tried, corpus.size()), 0});
    if (tried.updates == 1)
      first = watch.seconds();
    else
      times.push_back(watch.seconds());
  }
  // The middle one: another program that takes its turn is not the rule.
  const auto middle = times.begin() + std::max<int64_t>(std::ssize(times) - 1, 0) / 2;
  std::nth_element(times.begin(), middle, times.end());
  tried.seconds = static_cast<double>(tried.updates) * (times.empty() ? first : *middle);
  return tried;
}

TimeToGo::TimeToGo(const TrainOptions& options, int64_t corpus_size, const Validations& validations,
                   std::optional<Progress> tried, double guess)
    : options_(options),
      corpus_size_(corpus_size),
      validations_(validations),
      tried_(std::move(tried)),
      guess_(guess) {}

double TimeToGo::of_validation(const Pace& pace) const {
  if (validated_) return *validated_;
  const auto rows = static_cast<double>(pace.to.target_tokens - pace.from.target_tokens);
  const double share = kForwardShare + (validations_.translated ? kSearchShare : kForwardShare);
  return rows > 0 ? pace.seconds() / rows * share * static_cast<double>(validations_.rows) : 0;
}

double TimeToGo::validations_left(const Pace& pace, const Progress& now, double seconds) const {
  if (validations_.rows == 0) return 0;
  const auto at_end = static_cast<double>(validations_.at_end);
  const Period& period = options_.validate;
  if (period.never() || !(pace.seconds() > 0)) return at_end + 1;
  const auto reach = [&](const Progress& p) { return reached(period.unit, p, corpus_size_); };
  const double a_second = (reach(pace.to) - reach(pace.from)) / pace.seconds();
  const double before = std::floor(reach(now) / period.count);
  const double after = std::ceil((reach(now) + a_second * seconds) / period.count);
  return at_end + std::max(after - before, 1.0);
}

double TimeToGo::seconds(const Progress& now) const {
  if (options_.stop.never()) return 0;
  const auto share = [&](const Progress& p) { return share_done(options_.stop, p, corpus_size_); };
  const double left = 1 - share(now);
  if (left <= 0) return 0;
  Pace pace{begun_, now};
  const bool own = pace.seconds() >= kSureSeconds;
  if (!own && tried_) pace = {{}, *tried_};
  const double done = share(pace.to) - share(pace.from);
  double updates = 0;
  if (options_.stop.unit == Period::Unit::minutes)
    updates = 60 * options_.stop.count - now.seconds;
  else if (!own && !tried_)
    updates = guess_ * left;
  else
    updates = done > 0 ? left * pace.seconds() / done : 0;
  return updates + validations_left(pace, now, updates) * of_validation(pace);
}

}  // namespace attune
