// What a comparison tries: the values of --over, split and multiplied out, each with a name that a folder can have.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune {

struct VariantChoice {
  std::string name;                                           // letters, digits and ._+- alone; no two are alike
  std::vector<std::pair<std::string, std::string>> settings;  // key, value as it was given
  std::vector<std::string> sets() const;                      // "key=value"
};

/// Splits at commas outside brackets and quotes. ErrorKind::usage for what is not closed, and for empty values.
std::vector<std::string> split_values(std::string_view text);

/// The product of "key=a,b,c" ..., the last one changing first. A name tells the values of its variant and does not
/// depend on the others, so that a comparison can be extended. ErrorKind::usage for what can't be split, for a key or a
/// value that is there twice, and for more than a thousand variants.
std::vector<VariantChoice> variants_of(const std::vector<std::string>& over);

}  // namespace attune
