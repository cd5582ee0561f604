// A linear model over the words of a text and pairs of words in a row.
#pragma once
#include "baseline/baseline.h"

namespace attune {

struct BagBaseline {
  static constexpr BaselineKind kKind{
      .name = "bag of words",
      .sentence = "a linear model over words and pairs of words in a row; of two texts also over what both have",
      .cite = "Joulin et al. 2017, \"Bag of tricks for efficient text classification\""};
  static bool fits(const BaselineTask& task) { return task.recipe.task == Task::classify; }
  static BaselineGuess guess(const BaselineTask& task);
};

}  // namespace attune
