#include "recipe/places.h"

#include <cctype>
#include <string_view>

namespace attune {

namespace {

/// Where a text names a key, and not a longer one that begins or ends the same way.
size_t named_at(std::string_view text, std::string_view key) {
  const auto goes_on = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const bool inside = at > 0 && (goes_on(at - 1) || text[at - 1] == '.');
    const size_t end = at + key.size();
    const bool longer = goes_on(end) || (end < text.size() && text[end] == '.' && goes_on(end + 1));
    if (!inside && !longer) return at;
  }
  return std::string_view::npos;
}

}  // namespace

Error RecipePlaces::located(const Error& e) const {
  const std::string_view text = e.what();
  if (file.empty() || text.starts_with(file + ":") || text.starts_with(std::string(kSet) + ": ")) return e;
  std::string place = file;
  std::pair first{true, std::string_view::npos};
  for (const auto& [key, where] : said) {
    const size_t at = named_at(text, key);
    const std::pair rank{where != kSet, at};  // what was set on the command line is what is new
    if (at == std::string_view::npos || rank >= first) continue;
    first = rank;
    place = where;
  }
  // What is wrong with data, or too large, is a matter of the recipe only where it begins with a key.
  const bool elsewhere = e.kind() == ErrorKind::data || e.kind() == ErrorKind::memory;
  if (e.kind() != ErrorKind::recipe && (!elsewhere || first.second != 0)) return e;
  return {e.kind(), place + ": " + e.what()};
}

}  // namespace attune
