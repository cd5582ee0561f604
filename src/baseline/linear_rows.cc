#include "baseline/linear_rows.h"

#include <algorithm>

#include "baseline/answer_rows.h"
#include "baseline/examples.h"
#include "baseline/linear.h"

namespace attune {

namespace {

constexpr int64_t kPictures = 20'000;
constexpr int64_t kPixels = 8'000'000;

/// Numbers that are not zero, by their places.
std::vector<Feature> features_of(std::span<const float> values) {
  std::vector<Feature> all;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) all.push_back({static_cast<uint32_t>(i), values[i]});
  return all;
}

/// Adds what an example has to be answered: itself, or those of its rows that count.
void add_rows(const Rows& source, const std::vector<int64_t>& numbers, SparseRows& to) {
  const std::span<const float> values(source.values);
  const auto width = static_cast<size_t>(source.width);
  if (numbers.empty()) to.add(features_of(values));
  for (const int64_t r : numbers) to.add(features_of(values.subspan(static_cast<size_t>(r) * width, width)));
}

}  // namespace

BaselineGuess LinearRowsBaseline::guess(const BaselineTask& task) {
  const Corpus &train = task.data.train, &valid = task.data.valid;
  const bool by_rows = !train.target_layout.empty();
  const RowShape& shape = *task.tokenizers.rows;
  const int64_t columns = by_rows ? shape.width : shape.width * shape.longest;
  const Answers answers = answers_of_task(task);
  SparseRows rows;
  std::vector<int32_t> right;
  ExampleBuffer buffer;
  Rows source;
  AnswerRows train_answers(train), valid_answers(valid);
  for (const int64_t i : spread_evenly(train.size(), std::min(kPictures, kPixels / columns))) {
    const std::vector<int32_t>& own = train_answers.answers(i);
    right.insert(right.end(), own.begin(), own.end());
    source.clear();
    train.source_layout.unpack(train.example(i, buffer).source, source);
    add_rows(source, train_answers.numbers(), rows);
  }
  const auto wanted = [&](int64_t row, std::span<float> out) {
    if (const int32_t id = right[static_cast<size_t>(row)]; id >= 0) out[static_cast<size_t>(id)] = 1;
  };
  const int64_t outputs = answers.width();
  LinearModel model = fit_linear(rows, wanted, LinearModel(columns, outputs, LinearLink::one), outputs);
  BaselineGuess guess;
  for (int64_t i = 0; i < valid.size(); ++i) {
    valid_answers.answers(i);
    source.clear();
    valid.source_layout.unpack(valid.example(i, buffer).source, source);
    SparseRows asked;
    add_rows(source, valid_answers.numbers(), asked);
    std::vector<int32_t> said;
    for (int64_t r = 0; r < asked.count(); ++r) said.push_back(most_of(model.ask(asked[r])));
    guess.lines.push_back(answers.write(said));
  }
  return guess;
}

}  // namespace attune
