#include "api/model_files.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoint/model_folder.h"

namespace attune {

Vocabularies vocabularies_of(const Recipe& recipe, const Tokenizers& tokenizers) {
  // One position more than the longest side has tokens: its mark. Texts that are answered have two.
  if (const auto& labels = tokenizers.labels)
    return {tokenizers.source->size(), std::max(1, labels->size()), recipe.data.max_length + 2};
  const int64_t marks = recipe.model.shape == ModelShape::encoder ? 2 : 1;
  return {tokenizers.source->size(), tokenizers.target->size(), recipe.data.max_length + marks};
}

bool is_language_model(const std::string& dir) try {
  return load_recipe(dir + "/" + kRecipeName).task == Task::language;
} catch (const Error&) { return false; }

bool gives_answers(const std::string& dir) try {
  return sides_of(load_recipe(dir + "/" + kRecipeName).task) == Sides::answers;
} catch (const Error&) { return false; }

OpenedModel open_model_files(const std::string& dir, ThreadPool* pool) {
  open_model(dir);
  OpenedModel m;
  m.recipe = load_recipe(dir + "/" + kRecipeName);
  m.tokenizers = Tokenizers::load(dir + "/" + kTokenizerName);
  m.model = std::make_unique<Transformer>(m.recipe.model, vocabularies_of(m.recipe, m.tokenizers));
  load_parameters(dir + "/" + kModelName, m.model->parameters(), pool);
  return m;
}

}  // namespace attune
