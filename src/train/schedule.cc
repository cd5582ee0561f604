#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/portable_math.h"

namespace attune {

bool depends_on_end(Schedule schedule) {
  return schedule == Schedule::cosine || schedule == Schedule::linear || schedule == Schedule::exponential;
}

void check_end(const TrainOptions& o) {
  if (!depends_on_end(o.schedule) || (!o.stop.never() && o.stop.unit != Period::Unit::minutes)) return;
  const char* name = o.schedule == Schedule::cosine   ? "cosine"
                     : o.schedule == Schedule::linear ? "linear"
                                                      : "exponential";
  fail(ErrorKind::recipe,
       "train.schedule = \"{}\" comes down until the end, and train.stop = \"{}\" {}\n"
       "  fix: set train.stop in updates, epochs or tokens (\"8000u\", \"20e\", \"5Mt\"){}, or train.schedule = "
       "\"inverse-sqrt\"",
       name, o.stop.text(),
       o.stop.never() ? "is none" : "is one that only the clock knows: no two runs would have the same rates",
       o.stop.never() ? "" : "; `attune new --time` writes what fits a time");
}

double learning_rate(const TrainOptions& o, int64_t update, double last) {
  const auto n = static_cast<double>(update), warmup = static_cast<double>(o.warmup);
  if (update < o.warmup) return o.learning_rate * n / warmup;
  if (o.schedule == Schedule::constant || o.schedule == Schedule::plateau) return o.learning_rate;
  if (o.schedule == Schedule::inverse_sqrt) return o.learning_rate * std::sqrt(std::max(warmup, 1.0) / n);
  check(last > 0, "learning_rate", "a schedule that comes down until the end, and the end is not known");
  // How much of the way from the end of warm-up to the end of the run is done.
  const double way = std::max(last - warmup, 1.0);
  const double done = std::min((n - warmup) / way, 1.0);
  switch (o.schedule) {
    case Schedule::cosine:
      return o.learning_rate * 0.5 * (1 + portable::cos(std::numbers::pi * done));
    case Schedule::linear:
      return o.learning_rate * (1 - done);
    default:
      return o.learning_rate * portable::exp2(-10 * done);  // exponential: to a thousandth
  }
}

}  // namespace attune
