// Finding what a recipe names among the mechanisms or schemes there are.
#pragma once
#include <string>
#include <vector>

#include "base/choice.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/text.h"

namespace attune {

/// The index of the chosen kind; ErrorKind::recipe, with the nearest name, when there is none.
template <class Kind>
size_t find_kind(const std::vector<Kind>& kinds, const Choice& choice, const std::string& key) {
  std::vector<std::string> names;
  for (const Kind& k : kinds) {
    if (choice.kind == k.name) return names.size();
    names.push_back(k.name);
  }
  const std::string near = closest_name(choice.kind, names);
  fail(ErrorKind::recipe, "{} = \"{}\" is not known. {}", key, choice.kind,
       near.empty() ? "There are: " + join(names, ", ") : "Did you mean \"" + near + "\"?");
}

/// The choice of a layer: a list has one entry per layer from the bottom and cycles.
inline const Choice& in_turn(const std::vector<Choice>& list, int layer) {
  return list[static_cast<size_t>(layer) % list.size()];
}

/// The fields of a kind's options, with their defaults.
template <class T>
Fields default_options() {
  static typename T::Options options;
  return fields_of(options);
}

}  // namespace attune
