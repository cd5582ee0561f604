#include "recipe/units.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace attune {

namespace {

constexpr std::string_view kPeriodUnits = "uetm", kSizeUnits = "KMGT";

/// The number at the beginning of `text`, which loses it. No exponent: "1e" is one epoch.
bool take_number(std::string_view& text, double& out) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), out, std::chars_format::fixed);
  if (r.ec != std::errc{}) return false;
  text.remove_prefix(static_cast<size_t>(r.ptr - text.data()));
  return true;
}

}  // namespace

std::string Period::text() const {
  // No exponent here either: an "e" after digits is the unit.
  const std::string number = count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{}", count);
  return number + kPeriodUnits[static_cast<size_t>(unit)];
}

bool Period::parse(std::string_view text, Period& out) {
  text = trim(text);
  Period p;
  if (!take_number(text, p.count)) return false;
  if (text.starts_with('K') || text.starts_with('M')) {
    p.count *= text[0] == 'K' ? 1e3 : 1e6;
    text.remove_prefix(1);
  }
  const size_t unit = text.size() == 1 ? kPeriodUnits.find(text[0]) : std::string_view::npos;
  if (unit == std::string_view::npos || !(p.count == 0 || (p.count >= 1e-3 && p.count <= 1e15))) return false;
  p.unit = static_cast<Unit>(unit);
  out = p;
  return true;
}

bool Period::from_field(const FieldValue& value, Period& out) {
  const auto* text = std::get_if<std::string>(&value);
  return text && parse(*text, out);
}

std::string ByteSize::text() const {
  int64_t n = bytes;
  size_t unit = 0;
  while (n != 0 && n % 1024 == 0 && unit < kSizeUnits.size()) {
    n /= 1024;
    ++unit;
  }
  return std::to_string(n) + (unit ? std::string(1, kSizeUnits[unit - 1]) : "");
}

bool ByteSize::parse(std::string_view text, ByteSize& out) {
  text = trim(text);
  double n = 0;
  if (!take_number(text, n)) return false;
  if (text.ends_with('B')) text.remove_suffix(1);
  if (text.size() == 2 && text.ends_with('i')) text.remove_suffix(1);
  if (!text.empty()) {
    const size_t unit = text.size() == 1 ? kSizeUnits.find(text[0]) : std::string_view::npos;
    if (unit == std::string_view::npos) return false;
    n *= std::pow(1024.0, static_cast<double>(unit + 1));
  }
  if (n > 0x1p62) return false;
  out.bytes = static_cast<int64_t>(n);
  return true;
}

bool ByteSize::from_field(const FieldValue& value, ByteSize& out) {
  if (const auto* n = std::get_if<int64_t>(&value)) {
    if (*n < 0) return false;
    out.bytes = *n;
    return true;
  }
  const auto* text = std::get_if<std::string>(&value);
  return text && parse(*text, out);
}

bool TokenBudget::from_field(const FieldValue& value, TokenBudget& out) {
  const auto* n = std::get_if<int64_t>(&value);
  const auto* text = std::get_if<std::string>(&value);
  if (n ? *n < 1 || *n > kMost : !text || *text != "auto") return false;
  out.tokens = n ? *n : 0;
  return true;
}

bool TextList::from_field(const FieldValue& value, TextList& out) {
  out.texts.clear();
  if (const auto* one = std::get_if<std::string>(&value)) {
    if (!one->empty()) out.texts = {*one};
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    out.texts = {std::to_string(*number)};
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    out.texts = *texts;
  } else if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value)) {
    for (const int64_t n : *numbers) out.texts.push_back(std::to_string(n));
  } else {
    return false;
  }
  return true;
}

}  // namespace attune
