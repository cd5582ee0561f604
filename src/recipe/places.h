// Where each key of a recipe was said, so that whatever finds fault with it later, be it deep in a model, can name the
// line: `translate.toml:14: model.attention = "sofmax" is not known`.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "attune/error.h"

namespace attune {

/// The place of what the command line sets.
constexpr const char* kSet = "--set";

struct RecipePlaces {
  std::string file;                         // "" for a recipe made in code
  std::map<std::string, std::string> said;  // key: "translate.toml:14", or "--set"

  /// The error, with the place of the first key it names before it, one of --set first; the file's where it names none
  /// that was said. Errors about data get it where they begin with a key; others, and those that begin with a place
  /// already, stay.
  Error located(const Error& e) const;
};

/// Does something that may find fault with a recipe.
template <class F>
auto with_places(const RecipePlaces& places, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& e) { throw places.located(e); }
}

}  // namespace attune
