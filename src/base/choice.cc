#include "base/choice.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace attune {

namespace {

std::string option_text(const Choice::Option& option, bool quote) {
  if (const bool* b = std::get_if<bool>(&option)) return *b ? "true" : "false";
  if (const int64_t* n = std::get_if<int64_t>(&option)) return std::to_string(*n);
  if (const double* x = std::get_if<double>(&option)) return number_literal(*x);
  const auto& s = std::get<std::string>(option);
  return quote ? in_quotes(s) : s;
}

Choice::Option parse_option(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  const char* end = text.data() + text.size();
  const auto whole = [&](auto& out) {
    const auto r = std::from_chars(text.data(), end, out);
    return r.ec == std::errc{} && r.ptr == end;
  };
  int64_t n = 0;
  double x = 0;
  if (whole(n)) return n;
  if (whole(x)) return x;
  return std::string(text);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (u < 0x20 || u == 0x7f)
      out += fmt::format("\\u{:04x}", u);
    else
      out += c;
  }
  return out + "\"";
}

std::string number_literal(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  const std::string s = fmt::format("{}", x);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

std::string Choice::text() const {
  std::string inside;
  for (const auto& [name, option] : options)
    inside += (inside.empty() ? "" : ";") + name + "=" + option_text(option, false);
  return inside.empty() ? kind : kind + "(" + inside + ")";
}

std::string Choice::literal() const {
  if (options.empty()) return in_quotes(kind);
  std::string out = "{ kind = " + in_quotes(kind);
  for (const auto& [name, option] : options) out += ", " + name + " = " + option_text(option, true);
  return out + " }";
}

bool Choice::parse(std::string_view text, Choice& out) {
  text = trim(text);
  const size_t open = text.find('(');
  Choice c{std::string(trim(text.substr(0, open)))};
  if (open != std::string_view::npos) {
    if (!text.ends_with(')')) return false;
    for (const std::string& part : split_outside_parentheses(text.substr(open + 1, text.size() - open - 2), ';')) {
      const size_t equals = part.find('=');
      const std::string name(trim(std::string_view(part).substr(0, equals)));
      if (equals == std::string::npos || name.empty()) return false;
      c.options[name] = parse_option(trim(std::string_view(part).substr(equals + 1)));
    }
  }
  if (c.kind.empty() && !c.options.empty()) return false;
  out = std::move(c);
  return true;
}

}  // namespace attune
