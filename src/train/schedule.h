// The learning rate of each update: a linear rise over the warm-up, then what the schedule says.
#pragma once
#include <cstdint>

#include "recipe/settings.h"

namespace attune {

/// Of the `update`-th update, counted from 1. inverse-sqrt: rate * min(update / warmup, sqrt(warmup / update)) (Vaswani
/// et al. 2017, section 5.3, with the peak named instead of d_model). cosine, linear and exponential come down until
/// `last`, the number of the run's last update, which they must know: where the end is in epochs or tokens, the number
/// that it will have if the rest goes as far with each update as what is done. plateau is constant here: validations
/// lower it (Progress::rate_scale).
double learning_rate(const TrainOptions& options, int64_t update, double last = 0);

/// Whether the schedule needs to know the run's end: such a run can't be made longer afterwards.
bool depends_on_end(Schedule schedule);
/// Refuses such a schedule where no counter tells the end. ErrorKind::recipe.
void check_end(const TrainOptions& options);

}  // namespace attune
