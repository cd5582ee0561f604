#include "recipe/writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace attune {

namespace {

constexpr size_t kComments = 32;  // the column where comments begin

std::string section_of(const std::string& key) { return key.substr(0, std::min(key.rfind('.'), key.size())); }

std::string comment_of(const Field& f) {
  const std::string rule = f.rule.text();
  return "# " + f.sentence + (rule.empty() ? "" : " (" + rule + ")");
}

std::string line_of(const Field& f, const std::string& section) {
  const std::string name = section.empty() ? f.name : f.name.substr(section.size() + 1);
  const std::string setting = name + " = " + literal_of(f.get()), comment = comment_of(f);
  if (setting.size() + 1 > kComments || kComments + comment.size() > 120) return comment + "\n" + setting + "\n";
  return fmt::format("{:<{}}{}\n", setting, kComments, comment);
}

}  // namespace

std::string recipe_text(const Fields& fields, const std::vector<std::string>& keys) {
  // TOML wants all keys of a section in one place, those without a section first.
  std::vector<std::string> sections{""};
  std::map<std::string, std::string> texts;
  for (const Field& f : fields) {
    if (!keys.empty() && std::find(keys.begin(), keys.end(), f.name) == keys.end()) continue;
    const std::string section = f.name.find('.') == std::string::npos ? "" : section_of(f.name);
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) sections.push_back(section);
    texts[section] += line_of(f, section);
  }
  std::string out;
  for (const std::string& s : sections) {
    if (!s.empty()) out += (out.empty() ? "[" : "\n[") + s + "]\n";
    out += texts[s];
  }
  return out;
}

std::string canonical_text(NamedValues values) {
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out;
  for (const auto& [key, value] : values) out += key + " = " + literal_of(value) + "\n";
  return out;
}

std::string Difference::text() const {
  if (before.empty()) return fmt::format("{} is new: {}", key, now);
  if (now.empty()) return fmt::format("{} is gone, it was {}", key, before);
  return fmt::format("{} was {}, is {}", key, before, now);
}

std::vector<Difference> differences(const NamedValues& before, const NamedValues& now) {
  std::map<std::string, std::string> old;
  for (const auto& [key, value] : before) old[key] = literal_of(value);
  std::vector<Difference> found;
  for (const auto& [key, value] : now) {
    const auto at = old.find(key);
    const std::string was = at == old.end() ? "" : at->second, is = literal_of(value);
    if (was != is) found.push_back({key, was, is});
    if (at != old.end()) old.erase(at);
  }
  for (const auto& [key, value] : old) found.push_back({key, value, ""});
  return found;
}

}  // namespace attune
