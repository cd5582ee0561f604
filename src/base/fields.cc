#include "base/fields.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <concepts>

#include "base/error.h"
#include "base/text.h"

namespace attune {

FieldRule one_of(std::initializer_list<const char*> choices) { return {.choices = {choices.begin(), choices.end()}}; }

namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

std::string number_text(double x) { return fmt::format("{}", x); }

/// Whole text to number, or nothing.
template <class T>
bool parse_number(std::string_view text, T& out) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto r = std::from_chars(text.data(), text.data() + text.size(), out);
  return r.ec == std::errc{} && r.ptr == text.data() + text.size() && !text.empty();
}

bool in_range(const FieldRule& rule, double x) {
  if (!std::isfinite(x)) return false;
  // What is computed with is a float: one that rounds up to an open bound is none below it.
  return (rule.least_open ? x > rule.least : x >= rule.least) &&
         (rule.most_open ? static_cast<float>(x) < static_cast<float>(rule.most) : x <= rule.most);
}

/// A remedy: what the field has, unless that is what is wrong. Types of their own have examples in their names.
std::string example(const Field& f, const std::string& given) {
  if (std::holds_alternative<Field::Own>(f.place)) return "";
  std::string value = literal_of(f.get());
  double has = 0, was = 0;
  if (parse_number(value, has) && (!in_range(f.rule, has) || (parse_number(given, was) && has == was))) {
    if (!std::isfinite(f.rule.least) || f.rule.least_open) return "";
    value = number_text(f.rule.least);
  }
  if (value == given) return "";
  const bool numbers =
      std::holds_alternative<std::vector<double>*>(f.place) || std::holds_alternative<std::vector<int64_t>*>(f.place);
  if (value == "[]") value = numbers ? "[2, 1]" : "[\"...\", \"...\"]";
  if (value == "\"\"") value = "\"...\"";
  return "\n  fix: for example " + f.name.substr(f.name.rfind('.') + 1) + " = " + value;
}

void check_number(const Field& f, double x, ErrorKind kind) {
  if (!in_range(f.rule, x))
    fail(kind, "{} = {} is out of range: {}{}", f.name, number_text(x),
         f.rule.text().empty() ? "any number" : f.rule.text(), example(f, literal_of(x)));
}

/// The place among the choices; an error that names the closest one.
int64_t choice_index(const Field& f, const std::string& word, ErrorKind kind) {
  const auto& c = f.rule.choices;
  const auto at = std::find(c.begin(), c.end(), word);
  if (at != c.end()) return at - c.begin();
  const std::string near = closest_name(word, c);
  fail(kind, "{} = '{}' is not known: {}{}", f.name, word, f.rule.text(),
       near.empty() ? "" : ". Did you mean '" + near + "'?");
}

template <class T>
void check_whole(const Field& f, int64_t n, ErrorKind kind) {
  check_number(f, static_cast<double>(n), kind);
  if (!std::in_range<T>(n))
    fail(kind, "{} = {} is out of range: {} to {}{}", f.name, n, std::numeric_limits<T>::min(),
         std::numeric_limits<T>::max(), example(f, literal_of(n)));
}

std::string list_text(const auto& list, auto text, const char* between = ",") {
  std::string out;
  for (const auto& x : list) out += (out.empty() ? "" : between) + text(x);
  return out;
}

bool is_empty_list(const FieldValue& value) {
  return std::visit(
      []<class T>(const T& v) {
        if constexpr (requires { typename T::allocator_type; } && !std::is_same_v<T, std::string>) return v.empty();
        return false;
      },
      value);
}

/// One or more choices, from whatever may stand for them. False when it can't.
bool choices_of(const FieldValue& value, std::vector<Choice>& out) {
  if (const auto* kind = std::get_if<std::string>(&value))
    out = {{*kind}};
  else if (const auto* kinds = std::get_if<std::vector<std::string>>(&value))
    for (const auto& k : *kinds) out.push_back({k});
  else if (const auto* one = std::get_if<Choice>(&value))
    out = {*one};
  else if (const auto* all = std::get_if<std::vector<Choice>>(&value))
    out = *all;
  else
    return is_empty_list(value);
  return true;
}

}  // namespace

TextGroups GroupedTexts::grouped() const {
  TextGroups all;
  auto at = begin();
  for (const int64_t n : groups) {
    all.emplace_back(at, at + n);
    at += n;
  }
  return all;
}

std::string FieldRule::text() const {
  if (!choices.empty()) {
    std::vector<std::string> shown;
    for (const std::string& c : choices) {
      const bool word = !c.empty() && std::isalnum(static_cast<unsigned char>(c[0]));
      shown.push_back(word ? c : in_quotes(c));
    }
    return join(shown, " | ");
  }
  const bool low = std::isfinite(least), high = std::isfinite(most);
  if (low && high)
    return fmt::format("{}{} to {}{}", least_open ? "above " : "", least, most_open ? "below " : "", most);
  if (low) return fmt::format("{} {}", least_open ? "above" : "at least", least);
  if (high) return fmt::format("{} {}", most_open ? "below" : "at most", most);
  return "";
}

const char* Field::type() const {
  return std::visit(
      Overload{[](bool*) { return "bool (true or false)"; }, [](int32_t*) { return "whole number"; },
               [](int64_t*) { return "whole number"; }, [](uint64_t*) { return "whole number"; },
               [](float*) { return "number"; }, [](double*) { return "number"; }, [](std::string*) { return "text"; },
               [](std::vector<int64_t>*) { return "list of whole numbers"; },
               [](std::vector<double>*) { return "list of numbers"; },
               [](std::vector<std::string>*) { return "list of texts"; },
               [](Choice*) { return "name or { kind = ... }"; },
               [](std::vector<Choice>*) { return "name, { kind = ... } or list of these"; },
               [](GroupedTexts*) { return "list of texts"; }, [](const Enum&) { return "text"; },
               [](const Own& own) { return own.type; }},
      place);
}

void Field::fail_type(const std::string& given, ErrorKind kind) const {
  fail(kind, "{} is {}, not a {}{}", name, given, type(), example(*this, given));
}

bool Field::takes_choice() const {
  return std::holds_alternative<Choice*>(place) || std::holds_alternative<std::vector<Choice>*>(place);
}

FieldValue Field::get() const {
  return std::visit(
      Overload{[](bool* p) { return FieldValue(*p); }, [](float* p) { return FieldValue(static_cast<double>(*p)); },
               [](double* p) { return FieldValue(*p); }, [](std::string* p) { return FieldValue(*p); },
               [&](const Enum& e) { return FieldValue(rule.choices.at(static_cast<size_t>(e.get(e.at)))); },
               []<class T>(std::vector<T>* p) { return FieldValue(*p); }, [](Choice* p) { return FieldValue(*p); },
               [](GroupedTexts* p) {
                 return p->groups.empty() ? FieldValue(std::vector<std::string>(*p)) : FieldValue(p->grouped());
               },
               [](const Own& own) { return own.get(own.at); },
               [](auto* p) { return FieldValue(static_cast<int64_t>(*p)); }},
      place);
}

void Field::set(const FieldValue& value, ErrorKind kind) const {
  const auto wrong = [&] { fail_type(literal_of(value), kind); };
  const int64_t* whole = std::get_if<int64_t>(&value);
  const auto real = [&]() -> double {
    if (whole) return static_cast<double>(*whole);
    if (!std::holds_alternative<double>(value)) wrong();
    return std::get<double>(value);
  };
  const auto word = [&]() -> const std::string& {
    if (!std::holds_alternative<std::string>(value)) wrong();
    return std::get<std::string>(value);
  };
  const auto list = [&]<class T>(std::vector<T>* p) {
    if (is_empty_list(value)) return p->clear();
    if (!std::holds_alternative<std::vector<T>>(value)) wrong();
    const auto& given = std::get<std::vector<T>>(value);
    for (const T& x : given) {
      if constexpr (std::is_same_v<T, std::string>) {
        if (!rule.choices.empty()) choice_index(*this, x, kind);
      } else {
        check_number(*this, static_cast<double>(x), kind);
      }
    }
    *p = given;
  };
  const auto choices = [&](size_t exactly) {  // 0: any number
    std::vector<Choice> given;
    if (!choices_of(value, given) || (exactly && given.size() != exactly)) wrong();
    for (const Choice& c : given)
      if (!rule.choices.empty() && !c.kind.empty()) choice_index(*this, c.kind, kind);
    return given;
  };
  std::visit(Overload{[&](bool* p) {
                        if (!std::holds_alternative<bool>(value)) wrong();
                        *p = std::get<bool>(value);
                      },
                      [&]<std::integral T>(T* p) {
                        if (!whole) wrong();
                        check_whole<T>(*this, *whole, kind);
                        *p = static_cast<T>(*whole);
                      },
                      [&]<std::floating_point T>(T* p) {
                        const double x = real();
                        check_number(*this, x, kind);
                        *p = static_cast<T>(x);
                      },
                      [&](std::string* p) {
                        if (!rule.choices.empty()) choice_index(*this, word(), kind);
                        *p = word();
                      },
                      [&](std::vector<double>* p) {
                        if (const auto* n = std::get_if<std::vector<int64_t>>(&value)) {
                          for (int64_t x : *n) check_number(*this, static_cast<double>(x), kind);
                          p->assign(n->begin(), n->end());
                        } else {
                          list(p);
                        }
                      },
                      [&](std::vector<int64_t>* p) { list(p); }, [&](std::vector<std::string>* p) { list(p); },
                      [&](GroupedTexts* p) {
                        p->groups.clear();
                        const auto* groups = std::get_if<TextGroups>(&value);
                        if (!groups) return list(static_cast<std::vector<std::string>*>(p));
                        p->clear();
                        for (const auto& g : *groups) {
                          p->groups.push_back(std::ssize(g));
                          p->insert(p->end(), g.begin(), g.end());
                        }
                      },
                      [&](Choice* p) { *p = choices(1).front(); }, [&](std::vector<Choice>* p) { *p = choices(0); },
                      [&](const Own& own) {
                        if (!own.set(own.at, value)) wrong();
                      },
                      [&](const Enum& e) { e.set(e.at, choice_index(*this, word(), kind)); }},
             place);
}

void Field::set_text(std::string_view text, ErrorKind kind) const {
  const auto wrong = [&] { fail_type(in_quotes(text), kind); };
  const auto number = [&]<class T>(std::string_view t, T zero) {
    if (!parse_number(t, zero)) wrong();
    return zero;
  };
  const auto choice = [&](std::string_view t) {
    Choice c;
    if (!Choice::parse(t, c)) wrong();
    return c;
  };
  const auto trimmed = [](std::vector<std::string> list) {
    for (auto& s : list) s = std::string(trim(s));
    return list;
  };
  const auto pieces = [&] { return trim(text).empty() ? std::vector<std::string>{} : split(text, ','); };
  std::visit(Overload{[&](bool*) {
                        const std::string_view t = trim(text);
                        if (t != "true" && t != "false") wrong();
                        set(t == "true", kind);
                      },
                      [&]<std::integral T>(T*) { set(number(text, int64_t{}), kind); },
                      [&]<std::floating_point T>(T*) { set(number(text, double{}), kind); },
                      [&](std::string*) { set(std::string(text), kind); },
                      [&](std::vector<std::string>*) { set(trimmed(pieces()), kind); },
                      [&](GroupedTexts*) { set(trimmed(pieces()), kind); },
                      [&]<class T>(std::vector<T>*) {
                        std::vector<T> list;
                        for (const auto& s : pieces()) list.push_back(number(s, T{}));
                        set(list, kind);
                      },
                      [&](Choice*) { set(choice(text), kind); },
                      [&](std::vector<Choice>*) {
                        std::vector<Choice> list;
                        for (const auto& s : pieces()) list.push_back(choice(s));
                        set(list, kind);
                      },
                      [&](const Enum&) { set(std::string(trim(text)), kind); },
                      [&](const Own&) {  // a number or a word, whichever it takes
                        int64_t n = 0;
                        const std::string word(trim(text));
                        set(parse_number(text, n) ? FieldValue(n) : FieldValue(word), kind);
                      }},
             place);
}

void FieldCollector::add(const char* name, Field::Place place, const char* sentence, FieldRule rule) {
  fields_.push_back({prefix_ + name, place, sentence, std::move(rule)});
}

const Field& find_field(const Fields& fields, std::string_view key, ErrorKind kind) {
  const auto section = [](std::string_view k) {
    return k.substr(0, std::min(k.rfind('.') + 1, k.size()));
  };  // "model."
  std::vector<std::string> all, sections, neighbours;
  std::string near;
  for (const Field& f : fields) {
    if (f.name == key) return f;
    all.push_back(f.name);
    const std::string in(section(f.name));
    if (in == section(key)) neighbours.push_back(f.name);
    if (!in.empty()) sections.push_back(in.substr(0, in.size() - 1));
    if (f.name.substr(in.size()) == key.substr(section(key).size())) near = f.name;  // right, but for its section
  }
  if (near.empty()) near = closest_name(key, all);
  if (near.empty()) near = closest_name(key, sections);
  fail(kind, "unknown key '{}'.{}", key,
       near.empty() ? " Known: " + join(neighbours.empty() ? all : neighbours, ", ") : " Did you mean '" + near + "'?");
}

void apply_options(const Fields& fields, const Choice& choice, std::string_view key, ErrorKind kind) {
  for (const auto& [name, option] : choice.options) try {
      const FieldValue value = std::visit([](const auto& v) { return FieldValue(v); }, option);
      find_field(fields, name, kind).set(value, kind);
    } catch (const Error& e) { fail(e.kind(), "{} = {}: {}", key, choice.literal(), e.what()); }
}

NamedValues values_of(const Fields& fields) {
  NamedValues values;
  for (const Field& f : fields) values.emplace_back(f.name, f.get());
  return values;
}

void check_fields(const Fields& fields, ErrorKind kind) {
  for (const Field& f : fields) {
    if (const auto* e = std::get_if<Field::Enum>(&f.place))
      check(std::cmp_less(e->get(e->at), f.rule.choices.size()) && e->get(e->at) >= 0, "fields",
            "{} is none of its choices: {}", f.name, f.rule.text());
    f.set(f.get(), kind);
  }
}

std::string text_of(const FieldValue& value) {
  return std::visit(
      Overload{[](bool b) { return std::string(b ? "true" : "false"); }, [](int64_t n) { return std::to_string(n); },
               [](double x) { return number_text(x); }, [](const std::string& s) { return s; },
               [](const std::vector<int64_t>& v) { return list_text(v, [](int64_t n) { return std::to_string(n); }); },
               [](const std::vector<double>& v) { return list_text(v, number_text); },
               [](const std::vector<std::string>& v) { return list_text(v, [](const std::string& s) { return s; }); },
               [](const Choice& c) { return c.text(); },
               [](const std::vector<Choice>& v) { return list_text(v, [](const Choice& c) { return c.text(); }); },
               [](const TextGroups& v) {
                 return list_text(v,
                                  [](const auto& g) { return list_text(g, [](const std::string& s) { return s; }); });
               }},
      value);
}

std::string literal_of(const FieldValue& value) {
  const auto list = [](const auto& v, auto text) { return "[" + list_text(v, text, ", ") + "]"; };
  const auto whole = [](int64_t n) { return std::to_string(n); };
  const auto choice = [](const Choice& c) { return c.literal(); };
  const auto number = [](double x) { return number_literal(x); };
  const auto text = [](const std::string& s) { return in_quotes(s); };
  return std::visit(
      Overload{[](bool b) { return std::string(b ? "true" : "false"); }, whole, number, text,
               [&](const std::vector<int64_t>& v) { return list(v, whole); },
               [&](const std::vector<double>& v) { return list(v, number); },
               [&](const std::vector<std::string>& v) { return list(v, text); }, choice,
               [&](const std::vector<Choice>& v) { return v.size() == 1 ? v[0].literal() : list(v, choice); },
               [&](const TextGroups& v) { return list(v, [&](const auto& g) { return list(g, text); }); }},
      value);
}

std::string reference_table(const Fields& fields) {
  struct Row {
    std::string name, standard, range;
  };
  std::vector<Row> rows{{"key", "default", "range"}};
  for (const Field& f : fields) rows.push_back({f.name, text_of(f.get()), f.rule.text()});
  size_t name = 0, standard = 0, range = 0;
  for (const Row& r : rows) {
    name = std::max(name, r.name.size());
    standard = std::max(standard, r.standard.size());
    range = std::max(range, r.range.size());
  }
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i)
    out += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", rows[i].name, name, rows[i].standard, standard, rows[i].range,
                       range, i == 0 ? "meaning" : fields[i - 1].sentence);
  return out;
}

}  // namespace attune
