// Lays out the text of a new recipe: the keys that were chosen, each with its reason.
#pragma once
#include <string>

#include "advise/recipe_sizes.h"
#include "attune/new_recipe.h"
#include "text/labels.h"

namespace attune {

class RecipeLayout {
 public:
  /// Both outlive it; `result` gets the text and the settings.
  RecipeLayout(SizedRecipe& sized, NewRecipe& result);

  void section(const std::string& name) { result_.text += "\n[" + (section_ = name) + "]\n"; }
  /// The reason, unless given, is that of the sizes, else the key's own sentence.
  void key(const std::string& name, std::string reason = "");
  /// A key that is not set, to show how it would be.
  void example(const std::string& setting, const std::string& reason) { line("# " + setting, "# " + reason); }
  bool has_reason(const std::string& key) const { return sized_.reasons.contains(key); }

 private:
  void line(const std::string& setting, const std::string& comment);

  SizedRecipe& sized_;
  NewRecipe& result_;
  Fields fields_;
  std::string section_;
};

/// A language model's recipe, and what there is to say about it.
void write_language(SizedRecipe& sized, NewRecipe& n);
void tell_language(const SizedRecipe& sized, const CorpusLook& look, int threads, NewRecipe& n);
/// The same of labels.
void write_answers(SizedRecipe& sized, NewRecipe& n);
void tell_answers(const SizedRecipe& sized, const CorpusLook& look, const text::Labels& labels, int threads,
                  NewRecipe& n);
/// A recipe for pictures or graphs: all of it, but for the paths as the recipe names them. `n` has the files.
SizedRecipe choose_row_sizes(Task task, const Room& room, NewRecipe& n);
void write_rows(SizedRecipe& sized, NewRecipe& n);
/// How long the recipe's training is; `seconds` 0: nobody knows.
std::string training_note(const Recipe& recipe, double seconds, int threads);

}  // namespace attune
