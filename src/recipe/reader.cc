#include "recipe/reader.h"

// toml++ asserts what a wrong recipe can make untrue (`[=]`), and without assertions it lets the compiler rely on it.
// Here each of them stays a check, and an error.
#undef NDEBUG
namespace attune {
namespace {
struct TomlFault {};
constexpr void toml_demands(bool ok) {
  if (!ok) throw TomlFault();
}
}  // namespace
}  // namespace attune
#define TOML_ASSERT(expression) attune::toml_demands(static_cast<bool>(expression))
#define TOML_HEADER_ONLY 1  // no library to link
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace attune {

namespace {

constexpr int64_t kLargestRecipe = 1 << 20;

/// One key of a recipe and where it stands.
struct Item {
  std::string key;
  const toml::node* node;
  toml::source_position at;
};

/// What is written there, for messages about values that no field could take.
std::string word_for(const toml::node& node) {
  if (node.is_array()) return "a mixed list";
  if (node.is_table()) return "a table";
  return node.is_time() ? "a time" : "a date";
}

std::optional<Choice::Option> option_of(const toml::node& node) {
  if (const auto* b = node.as_boolean()) return b->get();
  if (const auto* n = node.as_integer()) return n->get();
  if (const auto* x = node.as_floating_point()) return x->get();
  if (const auto* s = node.as_string()) return s->get();
  return std::nullopt;
}

Choice choice_of(const toml::node& node, const std::string& key);

/// `["softmax", { kind = "band", width = 64 }]` and `[2, 6]` as texts: "softmax, band(width=64)" and "2, 6".
std::optional<Choice::Option> list_as_text(const toml::array& array, const std::string& key) {
  if (array.size() < 2) return std::nullopt;
  std::string text;
  for (const toml::node& n : array) {
    const toml::table* table = n.as_table();
    if (!n.is_string() && !n.is_integer() && !(table && table->contains("kind"))) return std::nullopt;
    text += text.empty() ? "" : ", ";
    text += n.is_integer()  ? std::to_string(n.as_integer()->get())
            : n.is_string() ? n.as_string()->get()
                            : choice_of(n, key).text();
  }
  return text;
}

/// `[{ band = 128, gap = 2 }, { global = [0, 9] }]` as a text: "band 128 gap 2, global at 0 9"; or as list_as_text().
std::optional<Choice::Option> parts_of(const toml::node& node, const std::string& key) {
  const toml::array* array = node.as_array();
  if (!array || array->empty()) return std::nullopt;
  if (auto list = list_as_text(*array, key)) return list;
  std::string text;
  for (const toml::node& n : *array) {
    const toml::table* table = n.as_table();
    if (!table || table->empty()) return std::nullopt;
    std::string part;
    for (const auto& [name, value] : *table) {
      part += fmt::format("{}{}", part.empty() ? "" : " ", std::string_view(name.str()));
      if (value.is_integer()) {
        part += fmt::format(" {}", value.as_integer()->get());
      } else if (const auto* numbers = value.as_array(); numbers && numbers->is_homogeneous<int64_t>()) {
        part += " at";
        for (const auto& number : *numbers) part += fmt::format(" {}", number.as_integer()->get());
      } else if (!(value.is_boolean() && value.as_boolean()->get())) {
        return std::nullopt;
      }
    }
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

/// `"softmax"` or `{ kind = "band", width = 64 }`.
Choice choice_of(const toml::node& node, const std::string& key) {
  if (const auto* s = node.as_string()) return {s->get()};
  Choice c;
  for (const auto& [name, value] : *node.as_table()) {
    const auto option = value.is_array() ? parts_of(value, key) : option_of(value);
    if (!option)
      fail(ErrorKind::recipe, "{}: option '{}' is {}, not a number, a text, true or false", key, name.str(),
           word_for(value));
    c.options[std::string(name.str())] = *option;
  }
  const auto kind = c.options.find("kind");
  if (kind == c.options.end() || !std::holds_alternative<std::string>(kind->second))
    fail(ErrorKind::recipe, "{} is a table without a kind\n  fix: write it as {{ kind = \"...\", option = value }}",
         key);
  c.kind = std::get<std::string>(kind->second);
  c.options.erase(kind);
  return c;
}

std::optional<FieldValue> list_of(const toml::array& array, const std::string& key) {
  bool whole = true, number = true, text = true, choice = true, groups = true;
  for (const toml::node& n : array) {
    whole = whole && n.is_integer();
    number = number && n.is_number();
    text = text && n.is_string();
    choice = choice && (n.is_string() || n.is_table());
    const toml::array* group = n.as_array();
    groups = groups && group && std::all_of(group->begin(), group->end(), [](const auto& m) { return m.is_string(); });
  }
  if (text) {  // an empty list too: any field takes that
    std::vector<std::string> list;
    for (const toml::node& n : array) list.push_back(n.as_string()->get());
    return list;
  }
  if (whole) {
    std::vector<int64_t> list;
    for (const toml::node& n : array) list.push_back(n.as_integer()->get());
    return list;
  }
  if (number) {
    std::vector<double> list;
    for (const toml::node& n : array) list.push_back(*n.value<double>());
    return list;
  }
  if (groups) {
    TextGroups list;
    for (const toml::node& n : array) {
      auto& group = list.emplace_back();
      for (const toml::node& m : *n.as_array()) group.push_back(m.as_string()->get());
    }
    return list;
  }
  if (choice) {
    std::vector<Choice> list;
    for (const toml::node& n : array) list.push_back(choice_of(n, key));
    return list;
  }
  return std::nullopt;
}

std::optional<FieldValue> value_of(const toml::node& node, const std::string& key) {
  if (const auto* array = node.as_array()) return list_of(*array, key);
  if (node.is_table()) return choice_of(node, key);
  if (const auto option = option_of(node)) return std::visit([](const auto& v) { return FieldValue(v); }, *option);
  return std::nullopt;
}

bool is_section(const Fields& fields, const std::string& key) {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.name.starts_with(key + "."); });
}
const Field* exact_field(const Fields& fields, const std::string& key) {
  const auto at = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == key; });
  return at == fields.end() ? nullptr : &*at;
}

void collect(const toml::table& table, const std::string& prefix, const Fields& fields, std::vector<Item>& items) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    const auto* section = node.as_table();
    if (section && !exact_field(fields, key) && (is_section(fields, key) || !section->empty()))
      collect(*section, key + ".", fields, items);
    else
      items.push_back({key, &node, name.source().begin});
  }
}

void set_item(const Item& item, const Fields& fields) {
  const Field* field = exact_field(fields, item.key);
  if (!field && is_section(fields, item.key))
    fail(ErrorKind::recipe, "{} is a section, not a key\n  fix: write its keys below [{}]", item.key, item.key);
  if (!field) find_field(fields, item.key, ErrorKind::recipe);  // says which key was meant
  const bool chosen = item.node->is_table() && !field->takes_choice();
  const auto value = chosen ? std::nullopt : value_of(*item.node, item.key);
  if (!value) field->fail_type(word_for(*item.node), ErrorKind::recipe);
  field->set(*value, ErrorKind::recipe);
}

/// What toml++ says, as a sentence, and a remedy for the mistakes people make.
std::string explain(const toml::parse_error& e) {
  std::string text(e.description());
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  const auto replace = [&](std::string_view from, std::string_view to) {
    if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  };
  if (has("parsing boolean") || has("could not determine value type") || has("expected digit"))
    return "this value is neither a number nor true or false\n  fix: put text in quotes: \"...\"";
  if (const size_t from = text.find('\''); has("cannot redefine") && from != std::string::npos)
    return text.substr(from, text.find('\'', from + 1) - from + 1) + " is there twice\n  fix: remove one of them";
  replace("Error while parsing ", "cannot read this ");
  replace("Encountered", "encountered");
  replace("encountered end-of-file", "it ends too early");
  replace("key-value pair", "line");
  replace("table header", "section");
  replace("saw '\\n'", "the line ends");
  replace("this root table: expected keys, tables, whitespace or comments", "this line");
  const char* fix = has("not representable") ? "a smaller number"
                    : has("string")          ? "close the text with a quote"
                    : has("section")         ? "close the section's name with ]"
                    : has("array")           ? "close the list with ], and put commas between its entries"
                    : has("inline")          ? "close it with }, and put commas between its entries"
                                             : "a line is key = value, [section] or # a comment";
  return text + "\n  fix: " + fix;
}

/// The line that a TomlFault, which tells nothing, comes from: the first that text may not reach to.
int64_t faulty_line(std::string_view text) {
  const std::vector<std::string> lines = split(text, '\n');
  const auto faulty = [&](int64_t count) {
    try {
      (void)toml::parse(join({lines.begin(), lines.begin() + count}, "\n"));
    } catch (const TomlFault&) { return true; } catch (const toml::parse_error&) {
    }
    return false;
  };
  int64_t good = 0, bad = static_cast<int64_t>(lines.size());
  while (bad - good > 1) {
    const int64_t middle = (good + bad) / 2;
    (faulty(middle) ? bad : good) = middle;
  }
  return bad;
}

toml::table parse_toml(std::string_view text, const std::string& place, bool lines) {
  const auto refuse_data = [&](int64_t line) {  // somebody's texts, given where a recipe is wanted
    if (lines && line == 1 && !place.ends_with(".toml"))
      fail(ErrorKind::recipe, "{}:1: cannot read this line: is it a recipe?\n  fix: {}", place,
           "`attune new` writes a recipe for files of texts, labels or pictures");
  };
  try {
    return toml::parse(text);
  } catch (const TomlFault&) {
    refuse_data(faulty_line(text));
    const std::string where = lines ? fmt::format("{}:{}", place, faulty_line(text)) : place;
    fail(ErrorKind::recipe,
         "{}: cannot read this line: a name must begin with a letter or a digit\n  fix: a line is key = value, "
         "[section] or # a comment",
         where);
  } catch (const toml::parse_error& e) {
    refuse_data(static_cast<int64_t>(e.source().begin.line));
    const std::string where = lines ? fmt::format("{}:{}", place, e.source().begin.line) : place;
    fail(ErrorKind::recipe, "{}: {}", where, explain(e));
  }
}

/// Sets everything in the order it is written in.
RecipePlaces set_all(const toml::table& table, const std::string& place, const Fields& fields) {
  std::vector<Item> items;
  collect(table, "", fields, items);
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column);
  });
  RecipePlaces places{place, {}};
  for (const Item& item : items) {
    const std::string where = fmt::format("{}:{}", place, item.at.line);
    try {
      set_item(item, fields);
    } catch (const Error& e) { throw Error(ErrorKind::recipe, where + ": " + e.what()); }
    places.said[item.key] = where;
  }
  return places;
}

}  // namespace

RecipePlaces parse_recipe(std::string_view toml, const std::string& place, const Fields& fields) {
  return set_all(parse_toml(toml, place, true), place, fields);
}

std::vector<std::string> apply_setting(const std::string& assignment, const Fields& fields) {
  const std::string place = kSet;
  const size_t equals = assignment.find('=');
  const std::string key(trim(std::string_view(assignment).substr(0, equals)));
  if (equals == std::string::npos || key.empty())
    fail(ErrorKind::recipe, "{}: '{}' is not key=value\n  fix: for example --set model.d_model=256", place, assignment);
  const std::string value(trim(std::string_view(assignment).substr(equals + 1)));
  toml::table table;
  try {
    table = toml::parse("value = " + value);
  } catch (...) {
    if (!value.empty() && std::string_view("[{\"'").find(value[0]) != std::string_view::npos)
      parse_toml("value = " + value, place, false);  // meant as TOML: say what is wrong
    table.clear();
  }
  if (table.size() != 1) {  // a bare word, or something with lines in it
    table.clear();
    table.insert("value", value);
  }
  std::vector<std::string> keys;
  try {
    std::vector<Item> items;
    const auto* section = table.get("value")->as_table();
    if (section && !exact_field(fields, key) && is_section(fields, key))
      collect(*section, key + ".", fields, items);  // the keys of a section, as a recipe can have them in one line
    else
      items.push_back({key, table.get("value"), {}});
    for (const Item& item : items) {
      set_item(item, fields);
      keys.push_back(item.key);
    }
  } catch (const Error& e) { throw Error(ErrorKind::recipe, place + ": " + e.what()); }
  return keys;
}

std::string read_recipe_text(const std::string& path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    const std::string inside = (std::filesystem::path(path) / "recipe.toml").string();
    fail(ErrorKind::recipe, "{} is a folder, not a recipe\n  fix: {}", path,
         std::filesystem::exists(inside, ignored) ? "name the recipe in it: " + inside : "name a recipe (.toml)");
  }
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(path, ignored);
  if (!ignored && std::cmp_greater(bytes, kLargestRecipe))
    fail(ErrorKind::recipe, "{} has {}: too large to be a recipe", path, human_bytes(static_cast<int64_t>(bytes)));
  // Pipes are read where a shell names them; in a model folder one would be waited for, and read, for ever.
  const bool named_by_shell = path.starts_with("/dev/") || path.starts_with("/proc/");
  const bool there = std::filesystem::exists(path, ignored);
  if (there && !named_by_shell && !std::filesystem::is_regular_file(path, ignored))
    fail(ErrorKind::recipe, "{} is not a regular file\n  fix: name a recipe (.toml)", path);
  try {
    return there && !named_by_shell ? read_regular_file(path, kLargestRecipe) : read_file(path);
  } catch (const Error& e) { throw Error(ErrorKind::recipe, e.what()); }
}

std::string beside_recipe(const std::string& recipe, const std::string& path) {
  return (std::filesystem::path(recipe).parent_path() / path).string();
}

}  // namespace attune
