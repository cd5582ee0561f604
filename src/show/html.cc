#include "show/html.h"

#include <fmt/core.h>

#include <cmath>

#include "text/utf8.h"
#include "text/width.h"

namespace attune::show {

std::string escaped(std::string_view text) {
  std::string out;
  for (const text::Character c : text::Characters(text)) switch (c.code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default: {
        const bool control = (c.code < 0x20 && c.code != '\n' && c.code != '\t') || (c.code >= 0x7f && c.code < 0xa0);
        text::append_utf8(out, control ? text::kReplacement : c.code);
      }
    }
  return out;
}

std::string label(std::string_view text, int columns) {
  const std::string safe = text::harmless(text);
  return escaped(columns > 0 ? text::shortened(safe, columns) : safe);
}

std::string short_number(double x) {
  if (x == 0 || !std::isfinite(x)) return fmt::format("{}", x);
  constexpr struct {
    double scale;
    const char* unit;
  } kUnits[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [scale, unit] : kUnits)
    if (std::abs(x) >= 0.9995 * scale) return fmt::format("{:.3g}{}", x / scale, unit);
  return fmt::format("{:.3g}", x);
}

}  // namespace attune::show
