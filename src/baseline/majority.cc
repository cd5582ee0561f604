#include "baseline/majority.h"

#include <algorithm>
#include <bit>

#include "baseline/answer_rows.h"
#include "baseline/examples.h"

namespace attune {

namespace {

constexpr int64_t kMajorityExamples = 200'000;

}  // namespace

BaselineGuess MajorityBaseline::guess(const BaselineTask& task) {
  const Answers answers = answers_of_task(task);
  const size_t heads = answers.heads().size();
  std::vector<std::vector<int64_t>> counts;
  std::vector<double> sums(heads, 0), numbers(heads, 0);
  for (size_t h = 0; h < heads; ++h)
    counts.emplace_back(static_cast<size_t>(std::max<int64_t>(1, answers.counts()[h])));
  AnswerRows rows(task.data.train);
  for (const int64_t i : spread_evenly(task.data.train.size(), kMajorityExamples)) {
    const std::vector<int32_t>& own = rows.answers(i);
    for (size_t k = 0; k < own.size(); ++k) {
      const size_t head = heads == 1 ? 0 : k;
      if (answers.heads()[head] == "number") {
        sums[head] += std::bit_cast<float>(own[k]);
        ++numbers[head];
      } else if (own[k] >= 0) {
        ++counts[head][static_cast<size_t>(own[k])];
      }
    }
  }
  std::vector<int32_t> always;
  for (size_t h = 0; h < heads; ++h)
    always.push_back(answers.heads()[h] == "number"
                         ? std::bit_cast<int32_t>(static_cast<float>(sums[h] / std::max(1.0, numbers[h])))
                         : most_of(counts[h]));
  BaselineGuess guess;
  AnswerRows valid(task.data.valid);
  for (int64_t i = 0; i < task.data.valid.size(); ++i) {
    const bool by_rows = !task.data.valid.target_layout.empty();
    guess.lines.push_back(answers.write(by_rows ? std::vector<int32_t>(valid.answers(i).size(), always[0]) : always));
  }
  return guess;
}

}  // namespace attune
