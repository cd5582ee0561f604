// How the ids of a vocabulary are spelled, for parts of a model that look at letters.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace attune {

/// A word or a part of one: as it is written, and in small letters, one for each.
struct Spelled {
  std::u32string letters, lower;
};
/// Of each id, white space and marks left out; missing where nobody told.
using Letters = std::shared_ptr<const std::vector<Spelled>>;

}  // namespace attune
