// One description per settings struct: name, default, range or choices, and a sentence. The recipe reader, --set, help,
// the generated reference and checkpoint headers all read the same one. A struct describes itself so:
//
//   struct BandOptions {
//     int64_t width = 64;
//     Norm norm = Norm::post;                                  // an enum class counting from 0
//     template <class V>
//     void fields(V& v) {
//       v("width", width, "positions each one sees", at_least(1));
//       v("norm", norm, "where the norm stands", one_of({"post", "pre"}));
//       v("stop", stop, "the end");                            // any type with kFieldType, to_field and from_field
//       v.section("cache", cache);                             // another such struct: its keys become "cache.name"
//     }
//   };
//
// The defaults are those of a fresh struct; nothing is written down twice.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "attune/error.h"
#include "base/choice.h"

namespace attune {

/// Lists of texts, a list each.
using TextGroups = std::vector<std::vector<std::string>>;

/// A value as readers and writers of any format exchange it.
using FieldValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                                std::vector<std::string>, Choice, std::vector<Choice>, TextGroups>;

/// A list of texts that may come in groups: [["a.en", "a.de"], ["b.en", "b.de"]] beside ["a.en", "a.de"].
struct GroupedTexts : std::vector<std::string> {
  using std::vector<std::string>::vector;
  GroupedTexts() = default;
  GroupedTexts(std::vector<std::string> texts) : std::vector<std::string>(std::move(texts)) {}
  std::vector<int64_t> groups = {};  // how many each has; none: not in groups
  TextGroups grouped() const;
};

/// What a field accepts.
struct FieldRule {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool least_open = false, most_open = false;  // the bound itself is not allowed
  std::vector<std::string> choices = {};
  std::string text() const;  // "1 to 64", "at least 1", "post | pre", ""
};
inline FieldRule at_least(double least) { return {.least = least}; }
inline FieldRule above(double least) { return {.least = least, .least_open = true}; }
inline FieldRule between(double least, double most) { return {.least = least, .most = most}; }
/// From `least` to just under `most`: a dropout rate.
inline FieldRule from_below(double least, double most) { return {.least = least, .most = most, .most_open = true}; }
FieldRule one_of(std::initializer_list<const char*> choices);
inline FieldRule one_of(std::vector<std::string> choices) { return {.choices = std::move(choices)}; }

/// A field of one struct in memory.
struct Field {
  /// An enum counted from 0 in the order of its choices.
  struct Enum {
    void* at;
    int64_t (*get)(const void*);
    void (*set)(void*, int64_t);
  };
  /// A type that reads and writes itself: a period, a size.
  struct Own {
    void* at;
    FieldValue (*get)(const void*);
    bool (*set)(void*, const FieldValue&);  // false: not such a value
    const char* type;
  };
  /// A list of choices takes a single one too.
  using Place = std::variant<bool*, int32_t*, int64_t*, uint64_t*, float*, double*, std::string*, std::vector<int64_t>*,
                             std::vector<double>*, std::vector<std::string>*, Choice*, std::vector<Choice>*,
                             GroupedTexts*, Enum, Own>;
  std::string name;  // with sections: "model.d_model"
  Place place;
  std::string sentence;
  FieldRule rule;

  const char* type() const;  // "bool (true or false)", "whole number", "number", "text", "list of ..."
  bool takes_choice() const;
  FieldValue get() const;
  /// Throws `kind` when the type or the range is wrong. A whole number is a number too.
  void set(const FieldValue& value, ErrorKind kind = ErrorKind::recipe) const;
  /// Throws `kind`: what is `given` is of no type that the field takes.
  [[noreturn]] void fail_type(const std::string& given, ErrorKind kind = ErrorKind::recipe) const;
  /// From text as a person types it; elements of a list are separated by commas.
  void set_text(std::string_view text, ErrorKind kind = ErrorKind::recipe) const;
};
using Fields = std::vector<Field>;

/// The visitor that `fields` is called with.
class FieldCollector {
 public:
  template <class T>
  void operator()(const char* name, T& member, const char* sentence, FieldRule rule = {}) {
    if constexpr (std::is_enum_v<T>)
      add(name,
          Field::Enum{&member, [](const void* p) { return static_cast<int64_t>(*static_cast<const T*>(p)); },
                      [](void* p, int64_t i) { *static_cast<T*>(p) = static_cast<T>(i); }},
          sentence, std::move(rule));
    else if constexpr (requires { T::kFieldType; })
      add(name,
          Field::Own{&member, [](const void* p) { return static_cast<const T*>(p)->to_field(); },
                     [](void* p, const FieldValue& value) { return T::from_field(value, *static_cast<T*>(p)); },
                     T::kFieldType},
          sentence, std::move(rule));
    else
      add(name, &member, sentence, std::move(rule));
  }
  template <class S>
  void section(const char* name, S& settings) {
    const size_t before = prefix_.size();
    prefix_ += std::string(name) + ".";
    settings.fields(*this);
    prefix_.resize(before);
  }
  Fields take() { return std::move(fields_); }

 private:
  void add(const char* name, Field::Place place, const char* sentence, FieldRule rule);
  Fields fields_;
  std::string prefix_;
};

/// The fields of a struct, pointing into it.
template <class S>
Fields fields_of(S& settings) {
  FieldCollector collector;
  settings.fields(collector);
  return collector.take();
}

/// The field of that name; an error that names the closest known key when there is none.
const Field& find_field(const Fields& fields, std::string_view key, ErrorKind kind = ErrorKind::recipe);

template <class S>
void set_field(S& settings, std::string_view key, std::string_view text, ErrorKind kind = ErrorKind::recipe) {
  find_field(fields_of(settings), key, kind).set_text(text, kind);
}
template <class S>
void set_field(S& settings, std::string_view key, const FieldValue& value, ErrorKind kind = ErrorKind::recipe) {
  find_field(fields_of(settings), key, kind).set(value, kind);
}

/// All settings in order, and back. Reading checks every key and value.
using NamedValues = std::vector<std::pair<std::string, FieldValue>>;
NamedValues values_of(const Fields& fields);
template <class S>
NamedValues to_values(S settings) {
  return values_of(fields_of(settings));
}
template <class S>
void from_values(S& settings, const NamedValues& values, ErrorKind kind = ErrorKind::recipe) {
  const Fields fields = fields_of(settings);
  for (const auto& [key, value] : values) find_field(fields, key, kind).set(value, kind);
}

/// Throws unless every value is in its range: for settings made in code.
void check_fields(const Fields& fields, ErrorKind kind = ErrorKind::usage);

/// Sets a mechanism's own settings from the options of a choice; `key` is where the choice stands.
void apply_options(const Fields& fields, const Choice& choice, std::string_view key,
                   ErrorKind kind = ErrorKind::recipe);

/// A value as set_text reads it.
std::string text_of(const FieldValue& value);
/// A value as a recipe has it: texts in quotes, lists in brackets.
std::string literal_of(const FieldValue& value);
/// One line per field: name, default, range, sentence. The reference page and --help print it.
std::string reference_table(const Fields& fields);
template <class S>
std::string reference_table() {
  S defaults;
  return reference_table(fields_of(defaults));
}

}  // namespace attune
