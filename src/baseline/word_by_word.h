// Each word of the source becomes the word that says it most probably, in the source's order.
#pragma once
#include "baseline/baseline.h"

namespace attune {

struct WordByWordBaseline {
  static constexpr BaselineKind kKind{
      .name = "word by word",
      .sentence = "each word becomes its likeliest translation by IBM Model 1; words that are not known stay",
      .cite = "Brown et al. 1993, \"The mathematics of statistical machine translation: parameter estimation\""};
  static bool fits(const BaselineTask& task) { return task.recipe.task == Task::translate; }
  static BaselineGuess guess(const BaselineTask& task);
};

}  // namespace attune
