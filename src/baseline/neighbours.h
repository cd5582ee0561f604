// A node gets the label that its neighbours have.
#pragma once
#include "baseline/baseline.h"

namespace attune {

struct NeighboursBaseline {
  static constexpr BaselineKind kKind{
      .name = "neighbours' labels",
      .sentence = "labels of training nodes spread along edges, and each node takes what most of it comes from",
      .cite = "Zhu and Ghahramani 2002, \"Learning from labeled and unlabeled data with label propagation\""};
  static bool fits(const BaselineTask& task);
  static BaselineGuess guess(const BaselineTask& task);
};

}  // namespace attune
