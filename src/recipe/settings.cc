#include "recipe/settings.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "recipe/reader.h"
#include "recipe/writer.h"

namespace attune {

std::vector<std::string> kinds_of_head(const Choice& head) {
  if (head.kind != "several") return {head.kind};
  const auto given = head.options.find("heads");
  const auto* said = given == head.options.end() ? nullptr : std::get_if<std::string>(&given->second);
  const std::string text = said ? *said : "label number";
  std::vector<std::string> kinds;
  for (const std::string_view kind : words_of(text)) kinds.emplace_back(kind);
  return kinds.empty() ? std::vector<std::string>{head.kind} : kinds;
}

bool can_be_smoothed(const Choice& head) {
  if (const auto crf = head.options.find("crf"); crf != head.options.end() && crf->second == Choice::Option(true))
    return false;
  const std::vector<std::string> heads = kinds_of_head(head);
  return std::any_of(heads.begin(), heads.end(), [](const std::string& h) { return h != "labels" && h != "number"; });
}

bool says_numbers(const Recipe& recipe) {
  const std::vector<std::string> kinds = kinds_of_head(recipe.model.head);
  return gives_answers(recipe.task) && std::count(kinds.begin(), kinds.end(), "number") > 0;
}

std::vector<std::string> metrics_of_head(const std::string& head) {
  if (head == "labels") return {"set-f1"};
  if (head == "number") return {"pearson", "mse"};
  if (head == "tags") return {"accuracy", "span-f1"};
  return {"accuracy", "f1"};
}

template Fields fields_of<Recipe>(Recipe&);
template Fields fields_of<ModelOptions>(ModelOptions&);

Recipe defaults_of(Task task) {
  Recipe r;
  r.task = task;
  if (task == Task::translate) return r;
  if (task != Task::language) {
    r.model.shape = ModelShape::encoder;
    r.model.head.kind = task == Task::tag ? "tags" : "label";
    r.data.format = task == Task::tag ? DataFormat::conll : DataFormat::tsv;
    r.train.label_smoothing = 0;
    r.train.metric = "accuracy";
    if (task == Task::image) {
      r.data.format = DataFormat::idx;
      r.model.input = {"patches"};
      r.model.position = {"sinusoidal"};  // on two axes
      r.train.batch_tokens.tokens = 64 * 28 * 28;
    }
    if (task == Task::graph) {
      r.data.format = DataFormat::graph;
      r.model.head.kind = "tags";
      r.model.input = {"linear"};
      r.model.attention = {{"edges"}};
      r.model.position = {"none"};
      r.train.batch_tokens.tokens = 1 << 20;
    }
    return r;
  }
  r.model.shape = ModelShape::decoder;
  r.train.label_smoothing = 0;
  r.train.metric = "perplexity";
  return r;
}

namespace {

constexpr const char* kTokenizerKeys = "tokenizer.";

void apply_all(const std::vector<std::string>& sets, const Fields& fields, RecipePlaces& places) {
  for (const std::string& s : sets)
    for (const std::string& key : apply_setting(s, fields)) places.said[key] = kSet;
}

/// What follows from what was said.
void settle(Recipe& recipe) {
  // A fall that ends with the run wants an end that is counted, not one that the clock decides.
  const Period& stop = recipe.train.stop;
  if ((stop.never() || stop.unit == Period::Unit::minutes) && !recipe.places.said.contains("train.schedule"))
    recipe.train.schedule = Schedule::inverse_sqrt;
  recipe.data.empty_answers = recipe.model.head.kind == "labels";
  if (recipe.model.shape != ModelShape::bag) return;
  recipe.model.kind = {"bag"};  // another word for it
  recipe.model.shape = ModelShape::encoder;
}

/// Sets all that the text and `--set` say on top of what a recipe has.
Recipe set_on(Recipe recipe, const std::string& toml, const std::string& place, const std::vector<std::string>& sets) {
  const Fields fields = fields_of(recipe);
  recipe.places = parse_recipe(toml, place, fields);
  apply_all(sets, fields, recipe.places);
  const auto of_tokenizer = [](const auto& said) { return said.first.starts_with(kTokenizerKeys); };
  recipe.tokenizer_of_start =
      !recipe.train.start.empty() && std::none_of(recipe.places.said.begin(), recipe.places.said.end(), of_tokenizer);
  settle(recipe);
  return recipe;
}

}  // namespace

namespace {

/// By the task, and by what it is to say.
Recipe defaults_for(const Recipe& r) {
  Recipe defaults = defaults_of(r.task);
  if (gives_answers(r.task) && !r.model.head.kind.empty()) {
    defaults.model.head.kind = r.model.head.kind;
    defaults.train.metric = metrics_of_head(kinds_of_head(r.model.head)[0])[0];
    defaults.data.answers = std::ssize(kinds_of_head(r.model.head));
  }
  if (guesses_missing_words(r)) defaults.model.head.kind = "words";
  return defaults;
}

}  // namespace

Recipe read_recipe(const std::string& toml, const std::string& place, const std::vector<std::string>& sets) {
  const Recipe first = set_on({}, toml, place, sets);  // to know the task
  return set_on(defaults_for(first), toml, place, sets);
}

Recipe load_recipe(const std::string& path, const std::vector<std::string>& sets) {
  Recipe recipe = read_recipe(read_recipe_text(path), path, sets);
  check_recipe(recipe);
  return recipe;
}

namespace {

void make_absolute(Recipe& recipe, const std::filesystem::path& folder) {
  const auto absolute = [&](const std::string& path) {
    return std::filesystem::absolute(folder / path).lexically_normal().string();
  };
  DataSettings& data = recipe.data;
  for (std::vector<std::string>* files : {static_cast<std::vector<std::string>*>(&data.train), &data.valid, &data.test,
                                          &data.weights.texts, &data.alignment})
    for (std::string& f : *files)
      if (f != "-") f = absolute(f);
  if (std::string& vectors = recipe.train.vectors; !vectors.empty()) vectors = absolute(vectors);
  if (std::string& start = recipe.train.start; !start.empty()) {
    start = absolute(start);
    while (start.size() > 1 && start.ends_with('/')) start.pop_back();
  }
}

}  // namespace

Recipe load_recipe_for_run(const std::string& path, const std::vector<std::string>& sets) {
  const std::string text = read_recipe_text(path);
  const Recipe whole = read_recipe(text, path, sets);
  Recipe recipe = set_on(defaults_for(whole), text, path, {});
  make_absolute(recipe, std::filesystem::path(path).parent_path());
  const Fields fields = fields_of(recipe);
  apply_all(sets, fields, recipe.places);
  make_absolute(recipe, {});
  recipe.tokenizer_of_start = whole.tokenizer_of_start;
  settle(recipe);
  check_recipe(recipe);
  return recipe;
}

std::string recipe_text(Recipe recipe) {
  Fields fields = fields_of(recipe);
  // What it does not say must not be said for it: read again, it means the same.
  if (recipe.tokenizer_of_start || reads_rows(recipe.task))
    std::erase_if(fields, [](const Field& f) { return f.name.starts_with(kTokenizerKeys); });
  return recipe_text(fields);
}

}  // namespace attune
