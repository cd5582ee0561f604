#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace attune {

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: the swap of two neighbours looks two rows back.
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string closest_name(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  int least = static_cast<int>(std::max<size_t>(1, name.size() / 3)) + 1;  // further away it would be a guess
  for (const std::string& k : known) {
    const int d = edit_distance(name, k);
    if (d < least) {
      least = d;
      best = k;
    }
  }
  if (best.empty() && name.size() >= 3)  // an unfinished word
    for (const std::string& k : known)
      if (k.starts_with(name)) return k;
  return best;
}

std::string thousands(int64_t n) {
  std::string digits = std::to_string(n);
  const size_t first = n < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, 1, ',');
  return digits;
}

std::string human_bytes(int64_t bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 || value >= 99.95 ? fmt::format("{:.0f} {}", value, units[unit])
                                     : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string duration_text(double seconds) {
  constexpr double kLongest = 3.6e12;  // a billion hours, and what is no number
  const auto s = static_cast<int64_t>((seconds < kLongest ? seconds : kLongest) + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) out += between;
    out += parts[i];
  }
  return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  const auto space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  for (size_t i = 0; i < line.size();) {
    while (i < line.size() && space(line[i])) ++i;
    const size_t from = i;
    while (i < line.size() && !space(line[i])) ++i;
    if (i > from) words.push_back(line.substr(from, i - from));
  }
  return words;
}

std::vector<std::string> split_outside_parentheses(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int64_t depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == separator && depth <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr const char* blank = " \t\r\n";
  const size_t from = text.find_first_not_of(blank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blank) - from + 1);
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string with_decimal_point(std::string_view number) {
  std::string out(number);
  const size_t comma = out.find(',');
  if (comma == std::string::npos || comma == 0 || out.find_first_of(",.", comma + 1) != std::string::npos) return out;
  const size_t first = out.find_first_of("0123456789"), digits = out.find_first_not_of("0123456789", comma + 1);
  const size_t behind = std::min(digits, out.size()) - comma - 1;
  const bool whole = first < comma && out[first] != '0';
  if (behind == 0 || out.find('.') != std::string::npos || (whole && behind == 3)) return out;
  out[comma] = '.';
  return out;
}

bool json_within(std::string_view text, int depth) {
  int open = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || (c == '{' && ++open > depth)) {
      return false;
    } else if (c == '}') {
      --open;
    }
  }
  return true;
}

}  // namespace attune
