// The most frequent label for every example; of numbers the mean.
#pragma once
#include "baseline/baseline.h"

namespace attune {

struct MajorityBaseline {
  static constexpr BaselineKind kKind{
      .name = "most frequent answer",
      .sentence = "the label that most training examples have, or the mean of their numbers, for all",
      .cite = "Holte 1993, \"Very simple classification rules perform well on most commonly used datasets\""};
  /// A label for each word is better guessed by the word.
  static bool fits(const BaselineTask& task) {
    return gives_answers(task.recipe.task) && task.recipe.task != Task::tag;
  }
  static BaselineGuess guess(const BaselineTask& task);
};

}  // namespace attune
