// How baselines look at a corpus: some of its examples, and what their ids say.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "data/corpus/answers.h"

namespace attune {

/// Numbers of `most` examples, or of all, spread evenly.
std::vector<int64_t> spread_evenly(int64_t all, int64_t most);
/// Those of a corpus of pairs that have about task.most_tokens on both sides, and are `most` at most.
std::vector<int64_t> examples_to_look_at(const BaselineTask& task, int64_t most);

/// The text, or the two texts, that the ids of a source stand for.
std::vector<std::string> texts_of(std::span<const int32_t> ids, const text::Tokenizer& tokenizer);
/// As people read it: punctuation apart, each Chinese character for itself.
std::vector<std::string> words_of_text(std::string_view text);

/// What of a task gives answers: how they are read and written.
Answers answers_of_task(const BaselineTask& task);

/// The index of the largest, of equals the first.
template <class Numbers>
int32_t most_of(const Numbers& numbers) {
  return static_cast<int32_t>(std::max_element(std::begin(numbers), std::end(numbers)) - std::begin(numbers));
}

}  // namespace attune
