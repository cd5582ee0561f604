// Values of recipes that carry a unit: periods, sizes of memory, token budgets. Each describes itself to base/fields.h.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace attune {

/// How long, or how often: "8000u" updates, "5e" epochs, "2Mt" tokens (K and M multiply), "10m" minutes. 0: never.
struct Period {
  enum class Unit : uint8_t { updates, epochs, tokens, minutes };
  double count = 0;
  Unit unit = Unit::updates;

  bool never() const { return count == 0; }
  bool operator==(const Period&) const = default;
  std::string text() const;
  static bool parse(std::string_view text, Period& out);

  static constexpr const char* kFieldType = "period like \"8000u\", \"5e\", \"2Mt\" or \"10m\"";
  FieldValue to_field() const { return text(); }
  static bool from_field(const FieldValue& value, Period& out);
};

/// An amount of memory: "512M", "4G", "4GiB" (K, M, G, T; of 1,024 each), or a number of bytes. 0: not limited.
struct ByteSize {
  int64_t bytes = 0;

  bool operator==(const ByteSize&) const = default;
  std::string text() const;
  static bool parse(std::string_view text, ByteSize& out);

  static constexpr const char* kFieldType = "size like \"512M\" or \"4G\"";
  FieldValue to_field() const { return text(); }
  static bool from_field(const FieldValue& value, ByteSize& out);
};

/// A number of tokens, or "auto": the most that memory allows.
struct TokenBudget {
  int64_t tokens = 0;  // 0: auto

  bool automatic() const { return tokens == 0; }
  bool operator==(const TokenBudget&) const = default;

  static constexpr int64_t kMost = int64_t{1} << 30;
  static constexpr const char* kFieldType = "whole number from 1 to 1073741824, or \"auto\"";
  FieldValue to_field() const { return automatic() ? FieldValue(std::string("auto")) : FieldValue(tokens); }
  static bool from_field(const FieldValue& value, TokenBudget& out);
};

/// A list of short texts, one of which may stand alone, and numbers for texts: ["form", "upos"], [2, 3], "weights.txt".
struct TextList {
  std::vector<std::string> texts;

  bool operator==(const TextList&) const = default;

  static constexpr const char* kFieldType = "text, or list of texts or whole numbers";
  FieldValue to_field() const { return texts; }
  static bool from_field(const FieldValue& value, TextList& out);
};

}  // namespace attune
