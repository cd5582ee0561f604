#include "inference/model_files.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/ngrams.h"
#include "base/text.h"
#include "checkpoint/manifest.h"
#include "checkpoint/model_folder.h"
#include "data/corpus/answers.h"
#include "text/lower_case.h"

namespace attune {

namespace {

Letters letters_of(const text::Tokenizer& tokenizer) {
  std::vector<Spelled> all(static_cast<size_t>(tokenizer.size()));
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    Spelled& s = all[static_cast<size_t>(id)];
    s.letters = tokenizer.vocabulary().letters(id);
    for (const char32_t c : s.letters) s.lower += text::lower(c);
  }
  return std::make_shared<const std::vector<Spelled>>(std::move(all));
}

}  // namespace

ModelSizes sizes_of(const Recipe& recipe, const Tokenizers& tokenizers) {
  // One position more than the longest side has tokens: its mark. Texts that are answered have two.
  const bool bag = is_bag(recipe.model);
  if (const auto& rows = tokenizers.rows) {
    ModelSizes sizes{0, std::max(1, tokenizers.labels->size()), rows->longest};
    sizes.source_width = rows->width;
    sizes.source_grid = rows->grid;
    return sizes;
  }
  if (const auto& labels = tokenizers.labels) {
    ModelSizes sizes{tokenizers.source->size() + (bag ? kNgramIds : 0), std::max(1, labels->size()),
                     recipe.data.max_length + 2, Answers(kinds_of_head(recipe.model.head), labels).counts()};
    if (recipe.task == Task::tag) sizes.source_letters = letters_of(*tokenizers.source);
    return sizes;
  }
  if (recipe.model.shape == ModelShape::prefix)  // both sides follow one another
    return {tokenizers.source->size(), tokenizers.target->size(), 2 * (recipe.data.max_length + 1)};
  const int64_t marks = recipe.model.shape == ModelShape::encoder ? 2 : 1;
  return {tokenizers.source->size(), tokenizers.target->size(), recipe.data.max_length + marks};
}

namespace {

constexpr int64_t kLongest = 4096;
int64_t bounded(const Model& m, int64_t positions) {
  return std::min(positions, std::max(kLongest, m.sizes().longest));
}

}  // namespace

int64_t longest_source(const Model& model) { return bounded(model, model.longest_source()); }
int64_t longest_target(const Model& model) { return bounded(model, model.longest_target()); }

bool is_language_model(const std::string& dir) try {
  return load_recipe(dir + "/" + kRecipeName).task == Task::language;
} catch (const Error&) { return false; }

bool encodes_alone(const std::string& dir) try {
  const Recipe recipe = load_recipe(dir + "/" + kRecipeName);
  return gives_answers(recipe.task) || !has_decoder(recipe.model.shape);
} catch (const Error&) { return false; }

bool gives_answers(const std::string& dir) try {
  return gives_answers(load_recipe(dir + "/" + kRecipeName).task);
} catch (const Error&) { return false; }

OpenedModel open_model_files(const std::string& dir, ThreadPool* pool) {
  open_model(dir);
  OpenedModel m;
  m.recipe = load_recipe(dir + "/" + kRecipeName);
  m.tokenizers = Tokenizers::load(dir + "/" + kTokenizerName);
  const std::string weights = dir + "/" + kModelName;
  m.model = std::make_unique<Model>(m.recipe.model, sizes_of(m.recipe, m.tokenizers), std::vector<std::string>{},
                                    [&](const Parameters& p) { check_declared(weights, p); });
  load_parameters(weights, m.model->parameters(), pool);
  // Only what the manifest lists: a model that was here before may have left its own.
  if (lists(read_manifest(dir), kShortlistName))
    m.shortlist = std::make_unique<const Shortlist>(
        Shortlist::load(dir + "/" + kShortlistName, m.tokenizers.source->size(), m.tokenizers.target->size()));
  return m;
}

void refuse_model(const Recipe& recipe, const std::string& name) {
  struct Use {
    const char *what, *command;
  };
  constexpr Use kUses[] = {{"translates", "translate"},         {"goes on with texts", "generate"},
                           {"classifies texts", "classify"},    {"labels words", "tag"},
                           {"classifies pictures", "classify"}, {"labels the nodes of graphs", "classify"}};
  const bool masked = guesses_missing_words(recipe);
  const Use use = masked ? Use{"guesses words that are missing", "embed"} : kUses[static_cast<size_t>(recipe.task)];
  fail(ErrorKind::model, "{} is a model for another task: it {}\n  fix: use `attune {}`{}", name, use.what, use.command,
       masked ? ", or begin another training with it: train.start" : "");
}

std::vector<OpenedModel> open_ensemble(const std::string& models, ThreadPool* pool,
                                       const std::function<void(const OpenedModel&, const std::string& name)>& check) {
  std::error_code ignored;  // a folder may have a comma in its name
  const std::vector<std::string> names =
      std::filesystem::is_directory(models, ignored) ? std::vector{models} : split(models, ',');
  std::vector<OpenedModel> all;
  for (const std::string& name : names) {
    all.push_back(open_model_files(name, pool));
    check(all.back(), name);
    const Tokenizers &first = all.front().tokenizers, &own = all.back().tokenizers;
    if (own.source->hash() != first.source->hash() || own.target->hash() != first.target->hash())
      fail(ErrorKind::model,
           "{} and {} do not share a vocabulary, as the models of an ensemble must\n"
           "  fix: train them with one tokenizer: the same data and [tokenizer], another train.seed",
           names[0], name);
  }
  return all;
}

}  // namespace attune
