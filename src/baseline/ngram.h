// How often words follow the few words before them.
#pragma once
#include "baseline/baseline.h"

namespace attune {

struct NgramBaseline {
  static constexpr BaselineKind kKind{
      .name = "n-grams",
      .sentence = "how often a token follows the 2 before it, or the 5 where tokens are characters or bytes, smoothed",
      .cite = "Chen and Goodman 1998, \"An empirical study of smoothing techniques for language modeling\""};
  /// Where words are missing inside a text, what follows is read too.
  static bool fits(const BaselineTask& task) {
    return task.recipe.task == Task::language && task.data.train.masked == 0;
  }
  static BaselineGuess guess(const BaselineTask& task);
};

}  // namespace attune
