// The source as it is.
#pragma once
#include "baseline/baseline.h"

namespace attune {

struct CopyBaseline {
  static constexpr BaselineKind kKind{
      .name = "copy", .sentence = "the source as it is, not translated at all", .cite = ""};
  static bool fits(const BaselineTask& task) { return task.recipe.task == Task::translate; }
  static BaselineGuess guess(const BaselineTask& task) { return {"", task.data.valid_source}; }
};

}  // namespace attune
