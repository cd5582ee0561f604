#include "baseline/neighbours.h"

#include <algorithm>

#include "baseline/answer_rows.h"
#include "baseline/examples.h"

namespace attune {

namespace {

constexpr int kSpreadings = 10;

/// The label of each node: that of training nodes, spread along the edges again and again. `known` has their labels,
/// -1 for others. A node that no label reaches gets the most frequent one.
std::vector<int32_t> spread_labels(const Edges& edges, const std::vector<int32_t>& known, int64_t labels) {
  const auto width = static_cast<size_t>(labels);
  std::vector<float> share(known.size() * width, 0.0f), next(share);
  std::vector<int64_t> counts(width, 0);
  for (const int32_t label : known)
    if (label >= 0) ++counts[static_cast<size_t>(label)];
  for (int round = 0; round < kSpreadings; ++round) {
    for (size_t n = 0; n < known.size(); ++n) {
      float* own = next.data() + n * width;
      std::fill(own, own + width, 0.0f);
      if (known[n] >= 0) {
        own[known[n]] = 1;
        continue;
      }
      float sum = 0;
      for (const int32_t other : edges.of(static_cast<int64_t>(n)))
        for (size_t l = 0; l < width; ++l) {
          own[l] += share[static_cast<size_t>(other) * width + l];
          sum += share[static_cast<size_t>(other) * width + l];
        }
      for (size_t l = 0; sum > 0 && l < width; ++l) own[l] /= sum;
    }
    share.swap(next);
  }
  std::vector<int32_t> all;
  for (size_t n = 0; n < known.size(); ++n) {
    const std::span<const float> own(share.data() + n * width, width);
    const int32_t most = most_of(own);
    all.push_back(own[static_cast<size_t>(most)] > 0 ? most : most_of(counts));
  }
  return all;
}

}  // namespace

/// The nodes to validate on are of the graphs that are trained on: others have no labelled neighbours.
bool NeighboursBaseline::fits(const BaselineTask& task) {
  return task.recipe.task == Task::graph && task.data.train.size() == task.data.valid.size() &&
         (task.recipe.data.valid.empty() || task.recipe.data.valid == task.recipe.data.train);
}

BaselineGuess NeighboursBaseline::guess(const BaselineTask& task) {
  const Corpus &train = task.data.train, &valid = task.data.valid;
  const Answers answers = answers_of_task(task);
  AnswerRows train_answers(train), valid_answers(valid);
  ExampleBuffer buffer;
  BaselineGuess guess;
  for (int64_t i = 0; i < train.size(); ++i) {
    Rows source;
    train.source_layout.unpack(train.example(i, buffer).source, source);
    std::vector<int32_t> known(static_cast<size_t>(source.rows()), -1);
    const std::vector<int32_t>& right = train_answers.answers(i);
    for (size_t k = 0; k < right.size(); ++k) known[static_cast<size_t>(train_answers.numbers()[k])] = right[k];
    const std::vector<int32_t> said = spread_labels(source.edges, known, answers.width());
    valid_answers.answers(i);
    std::vector<int32_t> wanted;
    for (const int64_t n : valid_answers.numbers()) wanted.push_back(said[static_cast<size_t>(n)]);
    guess.lines.push_back(answers.write(wanted));
  }
  return guess;
}

}  // namespace attune
