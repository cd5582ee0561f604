// The seam where baselines plug in: what can be said without a model, after seconds of counting, so that a run tells
// whether its model is worth more than that. A baseline looks at the training examples and answers the validation
// examples, or says how probable they are. It is one file here and one line in kinds.inc; which of them fit a task they
// know themselves.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/corpus/training_data.h"
#include "data/tokenizers.h"
#include "recipe/settings.h"

namespace attune {

/// What a baseline may look at. All of it outlives it.
struct BaselineTask {
  const Recipe& recipe;
  const TrainingData& data;
  const Tokenizers& tokenizers;
  ThreadPool* pool = nullptr;  // the result does not depend on it
  /// Training tokens that are looked at, at most; of more, some that are spread evenly.
  int64_t most_tokens = 2'000'000;
};

/// What people should know about a baseline.
struct BaselineKind {
  const char* name;
  const char* sentence;
  const char* cite;
};

struct BaselineGuess {
  std::string name;
  std::vector<std::string> lines = {};  // an answer or a translation for each validation example, or ...
  std::optional<double> loss = {};      // ... what the validation text costs, in nats a token
};

/// All there are, in the order of kinds.inc.
const std::vector<BaselineKind>& baseline_kinds();
/// What those that fit the task say about its validation examples. The same for any pool.
std::vector<BaselineGuess> guess_by_baselines(const BaselineTask& task);

}  // namespace attune
