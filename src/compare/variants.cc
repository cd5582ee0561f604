#include "compare/variants.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

namespace attune {

namespace {

constexpr size_t kMostVariants = 1000, kLongestName = 80;

struct Over {
  std::string key;
  std::vector<std::string> values;
};

Over parse(const std::string& text) {
  const size_t equals = text.find('=');
  Over over{std::string(trim(std::string_view(text).substr(0, equals))), {}};
  if (equals == std::string::npos || over.key.empty())
    fail(ErrorKind::usage, "--over: '{}' is not key=a,b,c\n  fix: for example --over model.attention=softmax,band",
         text);
  over.values = split_values(std::string_view(text).substr(equals + 1));
  for (size_t i = 0; i < over.values.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (over.values[i] == over.values[j])
        fail(ErrorKind::usage, "--over: {} has the value {} twice\n  fix: remove one of them", over.key,
             over.values[i]);
  return over;
}

bool in_names(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("._+-").find(c) != std::string_view::npos;
}

/// `{ kind = "band", width = 64 }` -> "band-width-64".
std::string words_of(const std::string& value) {
  std::string out, word;
  for (size_t i = 0; i <= value.size(); ++i) {
    if (i < value.size() && in_names(value[i])) {
      word += value[i];
      continue;
    }
    const size_t next = value.find_first_not_of(' ', i);
    const bool is_kind = word == "kind" && next != std::string::npos && value[next] == '=';
    if (!word.empty() && !is_kind) out += (out.empty() ? "" : "-") + word;
    word.clear();
  }
  return out;
}

/// A number says little without its key.
std::string part_of_name(const std::string& key, const std::string& value) {
  const bool number =
      std::isdigit(static_cast<unsigned char>(value[0])) || value[0] == '-' || value[0] == '+' || value[0] == '.';
  const std::string words = words_of(value);
  if (!number && value != "true" && value != "false" && !words.empty()) return words;
  return key.substr(key.rfind('.') + 1) + (words.empty() ? "" : "-" + words);
}

std::string hash_name(const VariantChoice& v) {
  return fmt::format("{:08x}", static_cast<uint32_t>(hash64(join(v.sets(), "\n"))));
}

std::string name_for(const VariantChoice& v) {
  std::string name;
  for (const auto& [key, value] : v.settings) name += (name.empty() ? "" : "-") + part_of_name(key, value);
  name.erase(0, name.find_first_not_of(".-+"));  // no hidden folders, and nothing that looks like an option
  if (name.size() > kLongestName) name = name.substr(0, kLongestName - 9) + "-" + hash_name(v);
  return name.empty() || name.starts_with("compare.") ? "variant-" + hash_name(v) : name;
}

/// Not every disk tells capitals from small letters.
std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::vector<std::string> VariantChoice::sets() const {
  std::vector<std::string> all;
  for (const auto& [key, value] : settings) all.push_back(key + "=" + value);
  return all;
}

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values;
  std::string value, open;  // open: the brackets that are still to come
  char quote = 0;
  const auto finish = [&] {
    values.emplace_back(trim(value));
    if (values.back().empty())
      fail(ErrorKind::usage, "--over: a value of '{}' is empty\n  fix: remove a comma, or write \"\" for no text",
           text);
    value.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quote && open.empty() && c == ',') {
      finish();
      continue;
    }
    value += c;
    if (quote) {
      if (c == '\\' && quote == '"' && i + 1 < text.size())
        value += text[++i];
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c == '(') open += ')';
    if (c != ']' && c != '}' && c != ')') continue;
    if (open.empty() || open.back() != c)
      fail(ErrorKind::usage, "--over: a '{}' in '{}' was never opened\n  fix: put text in quotes: \"...\"", c, text);
    open.pop_back();
  }
  if (quote || !open.empty())
    fail(ErrorKind::usage, "--over: a '{}' is missing at the end of '{}'", quote ? quote : open.back(), text);
  finish();
  return values;
}

std::vector<VariantChoice> variants_of(const std::vector<std::string>& over) {
  if (over.empty())
    fail(ErrorKind::usage, "nothing to compare\n  fix: name a key and its values, --over model.attention=softmax,band");
  std::set<std::string> keys;
  std::vector<VariantChoice> all(1);
  for (const std::string& text : over) {
    const Over o = parse(text);
    if (!keys.insert(o.key).second)
      fail(ErrorKind::usage, "--over: {} is there twice\n  fix: give all its values in one --over", o.key);
    std::vector<VariantChoice> more;
    if (all.size() * o.values.size() > kMostVariants)
      fail(ErrorKind::usage, "--over makes more than {} variants\n  fix: compare fewer values at a time",
           thousands(kMostVariants));
    for (const VariantChoice& v : all)
      for (const std::string& value : o.values) {
        more.push_back(v);
        more.back().settings.emplace_back(o.key, value);
      }
    all = std::move(more);
  }
  std::set<std::string> names;
  for (VariantChoice& v : all) {
    v.name = name_for(v);
    if (!names.insert(lowered(v.name)).second) names.insert(v.name += "-" + hash_name(v));
  }
  return all;
}

}  // namespace attune
