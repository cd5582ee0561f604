// A choice by name with options of its own: `"softmax"`, or `{ kind = "band", width = 64 }`.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attune {

struct Choice {
  using Option = std::variant<bool, int64_t, double, std::string>;
  std::string kind;  // "": nothing chosen
  std::map<std::string, Option> options = {};

  bool operator==(const Choice&) const = default;
  /// As a command line has it: `softmax`, `band(width=64;global=2)`.
  std::string text() const;
  /// As a recipe has it: `"softmax"`, `{ kind = "band", global = 2, width = 64 }`.
  std::string literal() const;
  /// Reads what text() writes.
  static bool parse(std::string_view text, Choice& out);
};

/// A text in double quotes, as TOML and JSON read it.
std::string in_quotes(std::string_view text);
/// A number that reads back as the same double, and never as a whole number.
std::string number_literal(double x);

}  // namespace attune
