#include "base/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace attune {

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
  if (std::isnan(x)) return false;
  return (rule.least_open ? x > rule.least : x >= rule.least) && (rule.most_open ? x < rule.most : x <= rule.most);
}

[[noreturn]] void fail_type(const Field& f, const std::string& given, ErrorKind kind) {
  const std::string rule = f.rule.text();
  fail(kind, "{} = {} is not a {}{}", f.name, given, f.type(), rule.empty() ? "" : " (" + rule + ")");
}

void check_number(const Field& f, double x, ErrorKind kind) {
  if (!in_range(f.rule, x)) fail(kind, "{} = {} is out of range: {}", f.name, number_text(x), f.rule.text());
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
    fail(kind, "{} = {} is out of range: {} to {}", f.name, n, std::numeric_limits<T>::min(),
         std::numeric_limits<T>::max());
}

std::string list_text(const auto& list, auto text) {
  std::string out;
  for (const auto& x : list) out += (out.empty() ? "" : ",") + text(x);
  return out;
}

}  // namespace

std::string FieldRule::text() const {
  if (!choices.empty()) return join(choices, " | ");
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
               [](std::vector<std::string>*) { return "list of texts"; }, [](const Enum&) { return "text"; }},
      place);
}

FieldValue Field::get() const {
  return std::visit(
      Overload{[](bool* p) { return FieldValue(*p); }, [](float* p) { return FieldValue(static_cast<double>(*p)); },
               [](double* p) { return FieldValue(*p); }, [](std::string* p) { return FieldValue(*p); },
               [&](const Enum& e) { return FieldValue(rule.choices.at(static_cast<size_t>(e.get(e.at)))); },
               []<class T>(std::vector<T>* p) { return FieldValue(*p); },
               [](auto* p) { return FieldValue(static_cast<int64_t>(*p)); }},
      place);
}

void Field::set(const FieldValue& value, ErrorKind kind) const {
  const auto wrong = [&] { fail_type(*this, text_of(value), kind); };
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
  std::visit(Overload{[&](bool* p) {
    if (!std::holds_alternative<bool>(value)) wrong();
    *p = std::get<bool>(value);
                      },
                      [&]<class T>(T* p) requires std::is_integral_v<T> {
                        if (!whole) wrong();
                        check_whole<T>(*this, *whole, kind);
                        *p = static_cast<T>(*whole);
}
, [&]<class T>(T* p) requires std::is_floating_point_v<T> {
  const double x = real();
  check_number(*this, x, kind);
  *p = static_cast<T>(x);
}
,
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
    [&](const Enum& e) { e.set(e.at, choice_index(*this, word(), kind)); }
}  // namespace attune
,
             place);
}

void Field::set_text(std::string_view text, ErrorKind kind) const {
  const auto wrong = [&] { fail_type(*this, "'" + std::string(text) + "'", kind); };
  const auto number = [&]<class T>(std::string_view t, T zero) {
    if (!parse_number(t, zero)) wrong();
    return zero;
  };
  const auto pieces = [&] { return trim(text).empty() ? std::vector<std::string>{} : split(text, ','); };
  std::visit(Overload{[&](bool*) {
    const std::string_view t = trim(text);
    if (t != "true" && t != "false") wrong();
    set(t == "true", kind);
                      },
                      [&]<class T>(T*) requires std::is_integral_v<T> { set(number(text, int64_t{}), kind);
}
, [&]<class T>(T*) requires std::is_floating_point_v<T> { set(number(text, double{}), kind); }
, [&](std::string*) { set(std::string(text), kind); },
    [&](std::vector<std::string>*) {
      auto list = pieces();
      for (auto& s : list) s = std::string(trim(s));
      set(list, kind);
    },
    [&]<class T>(std::vector<T>*) {
      std::vector<T> list;
      for (const auto& s : pieces()) list.push_back(number(s, T{}));
      set(list, kind);
    },
    [&](const Enum&) { set(std::string(trim(text)), kind); }
},
             place);
}

void FieldCollector::add(const char* name, Field::Place place, const char* sentence, FieldRule rule) {
  fields_.push_back({prefix_ + name, place, sentence, std::move(rule)});
}

const Field& find_field(const Fields& fields, std::string_view key, ErrorKind kind) {
  std::vector<std::string> known;
  for (const Field& f : fields) {
    if (f.name == key) return f;
    known.push_back(f.name);
  }
  std::string near = closest_name(key, known);
  if (near.empty() && key.find('.') == std::string_view::npos)  // a key without its section
    for (const auto& k : known)
      if (k.ends_with("." + std::string(key))) near = k;
  fail(kind, "unknown key '{}'.{}", key,
       near.empty() ? " Known: " + join(known, ", ") : " Did you mean '" + near + "'?");
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
               [](const std::vector<std::string>& v) { return list_text(v, [](const std::string& s) { return s; }); }},
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
