// Settings back to text: a recipe with every key explained, a form for comparing, and what changed between two.
#pragma once
#include <string>
#include <vector>

#include "base/fields.h"

namespace attune {

/// A recipe that reads back as the same settings, each key with its sentence. `keys`: only these (none: all).
std::string recipe_text(const Fields& fields, const std::vector<std::string>& keys = {});

/// A line `key = value` per setting, in the order of keys: equal for equal settings, whatever file they came from.
std::string canonical_text(NamedValues values);

struct Difference {
  std::string key, before, now;  // values as a recipe has them; "" where there was none
  std::string text() const;      // train.warmup was 2000, is 4000
};
/// What changed, in the order of `now`; keys that only `before` has come last.
std::vector<Difference> differences(const NamedValues& before, const NamedValues& now);

}  // namespace attune
