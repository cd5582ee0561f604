// What can be said in a recipe.
#pragma once
#include <string>
#include <vector>

namespace attune {

/// A key of a recipe.
struct RecipeKey {
  std::string key;       // "model.d_model"
  std::string type;      // "whole number"
  std::string standard;  // the default, as a recipe has it
  std::string range;     // "at least 1", "post | pre", or ""
  std::string sentence;
};

/// Every key there is, in the order of the sections.
std::vector<RecipeKey> recipe_keys();
/// The same as a page of Markdown: docs/recipe.md.
std::string recipe_reference();

}  // namespace attune
