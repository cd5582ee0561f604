#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace attune {

bool depends_on_end(Schedule schedule) {
  return schedule == Schedule::cosine || schedule == Schedule::linear || schedule == Schedule::exponential;
}

double learning_rate(const TrainOptions& o, int64_t update, int64_t last) {
  const auto n = static_cast<double>(update), warmup = static_cast<double>(o.warmup);
  if (update < o.warmup) return o.learning_rate * n / warmup;
  if (o.schedule == Schedule::constant || o.schedule == Schedule::plateau) return o.learning_rate;
  if (o.schedule == Schedule::inverse_sqrt) return o.learning_rate * std::sqrt(std::max(warmup, 1.0) / n);
  if (last <= 0)
    fail(ErrorKind::recipe,
         "this train.schedule comes down until the end, so the end must be a number of updates\n"
         "  fix: set train.stop = \"8000u\", or train.schedule = \"inverse-sqrt\"");
  // How much of the way from the end of warm-up to the end of the run is done.
  const double way = static_cast<double>(std::max<int64_t>(last - o.warmup, 1));
  const double done = std::min((n - warmup) / way, 1.0);
  switch (o.schedule) {
    case Schedule::cosine:
      return o.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * done));
    case Schedule::linear:
      return o.learning_rate * (1 - done);
    default:
      return o.learning_rate * std::exp2(-10 * done);  // exponential: to a thousandth
  }
}

}  // namespace attune
