// The answers of a corpus, example by example, as the model's head is asked for them.
#pragma once
#include <vector>

#include "data/corpus/corpus.h"

namespace attune {

class AnswerRows {
 public:
  /// The corpus outlives it.
  explicit AnswerRows(const Corpus& corpus) : corpus_(corpus) {}

  /// Until the next call. Where rows have an answer each: those that count, in order.
  const std::vector<int32_t>& answers(int64_t example) {
    const auto target = corpus_.example(example, buffer_).target;
    answers_.assign(target.begin(), target.end());
    numbers_.clear();
    if (corpus_.target_layout.empty()) return answers_;
    Rows rows;
    Column<float> weights;
    corpus_.target_layout.unpack(target, rows, &weights);
    answers_.clear();
    for (size_t r = 0; r < rows.ids.size(); ++r) {
      if (weights[r] == 0) continue;
      answers_.push_back(rows.ids[r]);
      numbers_.push_back(static_cast<int64_t>(r));
    }
    return answers_;
  }
  /// Of the last call: which rows these are of; none where answers are no rows'.
  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  const Corpus& corpus_;
  ExampleBuffer buffer_;
  std::vector<int32_t> answers_;
  std::vector<int64_t> numbers_;
};

}  // namespace attune
