// A linear model over the pixels of a picture, or the features of a node alone.
#pragma once
#include "baseline/baseline.h"

namespace attune {

struct LinearRowsBaseline {
  static constexpr BaselineKind kKind{
      .name = "linear",
      .sentence = "a linear model over the pixels of a picture, or over the features of a node without its edges",
      .cite = "LeCun et al. 1998, \"Gradient-based learning applied to document recognition\", section III.C.1"};
  static bool fits(const BaselineTask& task) { return reads_rows(task.recipe.task); }
  static BaselineGuess guess(const BaselineTask& task);
};

}  // namespace attune
