#include "baseline/examples.h"

#include <algorithm>

#include "base/text.h"
#include "measure/words.h"

namespace attune {

std::vector<int64_t> spread_evenly(int64_t all, int64_t most) {
  const int64_t count = std::max<int64_t>(1, std::min(all, most));
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < std::min(all, count); ++i) numbers.push_back(i * all / count);
  return numbers;
}

std::vector<int64_t> examples_to_look_at(const BaselineTask& task, int64_t most) {
  const CorpusSizes sizes = task.data.train.sizes();
  const int64_t each = std::max<int64_t>(1, (sizes.source_tokens + sizes.target_tokens) / sizes.examples);
  return spread_evenly(sizes.examples, std::min(most, task.most_tokens / each));
}

std::vector<std::string> texts_of(std::span<const int32_t> ids, const text::Tokenizer& tokenizer) {
  std::vector<std::vector<int32_t>> texts(1);
  for (const int32_t id : ids) {
    if (id == text::kEnd)
      texts.emplace_back();
    else if (id < tokenizer.size())  // n-grams of a bag are above
      texts.back().push_back(id);
  }
  std::vector<std::string> all;
  for (const std::vector<int32_t>& own : texts) all.push_back(tokenizer.decode(own));
  return all;
}

std::vector<std::string> words_of_text(std::string_view text) {
  std::vector<std::string> all;
  const std::string apart = tokenize(text, Tokenization::zh);
  for (const std::string_view word : words_of(apart)) all.emplace_back(word);
  return all;
}

Answers answers_of_task(const BaselineTask& task) {
  return Answers(kinds_of_head(task.recipe.model.head), task.tokenizers.labels);
}

}  // namespace attune
