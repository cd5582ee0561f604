#include "model/parts.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace attune {

bool in_part(std::string_view name, std::string_view part) {
  return !part.empty() && name.starts_with(part) && (name.size() == part.size() || name[part.size()] == '.');
}

bool in_any_part(std::string_view name, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& p) { return in_part(name, p); });
}

std::string parts_there_are(const std::vector<std::string>& names) {
  std::set<std::string> parts;
  for (const std::string& name : names) {
    const size_t dot = name.find('.'), next = dot == std::string::npos ? dot : name.find('.', dot + 1);
    parts.insert(name.substr(0, dot));
    const bool layer = dot != std::string::npos && std::isdigit(static_cast<unsigned char>(name[dot + 1]));
    if (layer || (next != std::string::npos && name.compare(dot + 1, next - dot - 1, "embedding") == 0))
      parts.insert(name.substr(0, next));
  }
  return join({parts.begin(), parts.end()}, ", ");
}

namespace {

std::vector<std::string> names_of(const Parameters& parameters) {
  std::vector<std::string> names;
  for (const NamedParameter& p : parameters.named()) names.push_back(p.name);
  return names;
}

}  // namespace

void check_parts(const Parameters& parameters, const std::vector<std::string>& parts, const char* key) {
  const std::vector<std::string> names = names_of(parameters);
  for (const std::string& part : parts)
    if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return in_part(n, part); }))
      fail(ErrorKind::recipe, "{}: the model has no part \"{}\"\n  fix: use some of {}", key, part,
           parts_there_are(names));
}

void freeze_parts(Parameters& parameters, const std::vector<std::string>& parts) {
  if (parts.empty()) return;
  check_parts(parameters, parts, "train.freeze");
  bool trains = false;
  for (int i = 0; i < parameters.count(); ++i) {
    const auto names = parameters.names(i);
    const auto frozen =
        std::count_if(names.begin(), names.end(), [&](const NamedParameter& p) { return in_any_part(p.name, parts); });
    if (frozen != 0 && frozen != std::ssize(names)) {
      const std::string& one = names.front().name;  // "encoder.0.self.query.weight"
      fail(ErrorKind::recipe,
           "train.freeze: {} are one matrix, of which a part can't be frozen\n  fix: freeze all of \"{}\", or none",
           parameters.name(i), one.substr(0, one.rfind('.', one.rfind('.') - 1)));
    }
    if (frozen != 0)
      parameters.freeze(i);
    else
      trains = trains || !parameters.is_buffer(i);
  }
  if (!trains)
    fail(ErrorKind::recipe, "train.freeze leaves nothing to train\n  fix: leave out some of \"{}\"",
         join(parts, "\", \""));
}

}  // namespace attune
