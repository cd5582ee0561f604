#include "baseline/baseline.h"

#include "baseline/bag.h"
#include "baseline/copy.h"
#include "baseline/linear_rows.h"
#include "baseline/majority.h"
#include "baseline/neighbours.h"
#include "baseline/ngram.h"
#include "baseline/word_by_word.h"
#include "baseline/word_tag.h"

namespace attune {

namespace {

template <class T>
void add_guess(const BaselineTask& task, std::vector<BaselineGuess>& guesses) {
  if (!T::fits(task)) return;
  guesses.push_back(T::guess(task));
  guesses.back().name = T::kKind.name;
}

}  // namespace

const std::vector<BaselineKind>& baseline_kinds() {
  static const std::vector<BaselineKind> kinds{
#define BASELINE(type) type::kKind,
#include "baseline/kinds.inc"
#undef BASELINE
  };
  return kinds;
}

std::vector<BaselineGuess> guess_by_baselines(const BaselineTask& task) {
  std::vector<BaselineGuess> guesses;
  if (task.data.train.size() == 0 || task.data.valid.size() == 0) return guesses;
#define BASELINE(type) add_guess<type>(task, guesses);
#include "baseline/kinds.inc"
#undef BASELINE
  return guesses;
}

}  // namespace attune
