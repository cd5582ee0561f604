// Each word gets the tag that it has most often in the training data, whatever stands around it.
#pragma once
#include "baseline/baseline.h"

namespace attune {

struct WordTagBaseline {
  static constexpr BaselineKind kKind{
      .name = "most frequent tag per word",
      .sentence = "the tag a word has most often; of a new word that of its small letters, else of its last letters",
      .cite = "Charniak et al. 1993, \"Equations for part-of-speech tagging\""};
  static bool fits(const BaselineTask& task) { return task.recipe.task == Task::tag; }
  static BaselineGuess guess(const BaselineTask& task);
};

}  // namespace attune
