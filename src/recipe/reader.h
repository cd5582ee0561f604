// Reads recipes (TOML) into settings that describe themselves (base/fields.h), and writes them back. All errors are
// ErrorKind::recipe and say where: `translate.toml:14: unknown key 'model.d_modle'. Did you mean 'model.d_model'?`
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "recipe/places.h"

namespace attune {

/// Sets fields from TOML, in the order of its lines; returns the keys that were set, and where. `place` is the file's
/// name in messages. Sections nest: [model] d_model = 128 sets "model.d_model".
RecipePlaces parse_recipe(std::string_view toml, const std::string& place, const Fields& fields);
/// One `--set key=value` on top; returns the key. The value is TOML; a bare word is a string.
std::string apply_setting(const std::string& assignment, const Fields& fields);
/// The text of a recipe file; ErrorKind::recipe when it can't be read or is too large to be one.
std::string read_recipe_text(const std::string& path);

/// A settings struct from a file, with `--set` values on top of it.
template <class S>
S read_settings(const std::string& path, const std::vector<std::string>& sets = {}) {
  S settings;
  const Fields fields = fields_of(settings);
  parse_recipe(read_recipe_text(path), path, fields);
  for (const std::string& s : sets) apply_setting(s, fields);
  return settings;
}

/// A path named in a recipe, which is relative to the recipe's folder.
std::string beside_recipe(const std::string& recipe, const std::string& path);

}  // namespace attune
