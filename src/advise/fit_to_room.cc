// The model that memory and time allow, and how its training ends in that time.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "advise/recipe_sizes.h"
#include "base/text.h"

namespace attune {

namespace {

/// Of the updates that a model wants: with fewer, a smaller one is better.
constexpr double kLeastShare = 0.2;
/// Of the time that training may take: for validations, and for what nobody foresaw.
constexpr double kForValidations = 0.1, kSpare = 0.05;
constexpr double kFewestValidations = 5, kMostValidations = 20;
/// Of the time, where even the fewest take long.
constexpr double kMostForValidations = 0.3;

/// Two digits, the others nought: 1,234 -> 1,200.
double rounded_down(double n) {
  const double step = std::pow(10.0, std::max(0.0, std::floor(std::log10(std::max(n, 1.0))) - 1));
  return std::max(1.0, std::floor(n / step) * step);
}

/// Reading costs a third of an update; a translation is written word by word, too.
double validation_seconds(const SizedRecipe& s, double update, const Room& room) {
  const double batches = room.validated / static_cast<double>(s.recipe.train.batch_tokens.tokens);
  return batches * update * (s.recipe.task == Task::translate ? 1.5 : 0.4);
}

double validations_in(double seconds, double validation) {
  const double most = std::floor(kMostForValidations * seconds / std::max(validation, 1e-9));
  const double some = std::floor(kForValidations * seconds / std::max(validation, 1e-9));
  return std::max(1.0, std::min(most, std::clamp(some, kFewestValidations, kMostValidations)));
}

void set_end(SizedRecipe& s, double updates, double validations) {
  TrainOptions& t = s.recipe.train;
  const double wanted = t.stop.count;
  t.stop.count = updates;
  t.warmup = std::max<int64_t>(1, std::lround(static_cast<double>(t.warmup) * std::sqrt(updates / wanted)));
  t.warmup = std::min(t.warmup, std::max<int64_t>(1, static_cast<int64_t>(updates / 5)));
  t.validate.count = std::ceil(updates / validations);
}

}  // namespace

SizedRecipe fit_to_room(const std::vector<SizedRecipe>& sizes, const Room& room) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    SizedRecipe s = sizes[i];
    const bool last = i + 1 == sizes.size();
    if (const int64_t wanted = training_memory(s.recipe, room.threads); wanted > room.memory && !last) {
      if (notes.empty())
        notes.push_back(fmt::format("a {} model would suit the corpus, but wants about {} of memory; there is {}",
                                    s.name, human_bytes(wanted), human_bytes(room.memory)));
      continue;
    }
    const double wanted = s.recipe.train.stop.count;
    double updates = wanted, validations = kMostValidations;
    if (room.seconds_of_update) {
      const double update = room.seconds_of_update(s.recipe), validation = validation_seconds(s, update, room);
      if (room.seconds > 0) {
        validations = validations_in(room.seconds, validation);
        const double possible = ((1 - kSpare) * room.seconds - validations * validation) / update;
        if (possible < kLeastShare * wanted && !last) continue;
        updates = std::min(wanted, rounded_down(possible));
      }
      s.seconds = updates * update + validations * validation;
    }
    set_end(s, updates, std::min(validations, updates));
    if (updates < wanted) s.reasons["train.stop"] = "updates: about as many as fit in the time";
    s.notes.insert(s.notes.begin(), notes.begin(), notes.end());
    if (i > 0 && notes.empty())
      s.notes.push_back(
          fmt::format("a {} model would suit the corpus, but learns too little in the time there is", sizes[0].name));
    return s;
  }
  return sizes.at(0);
}

}  // namespace attune
