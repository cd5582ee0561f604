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

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const text::Character c : text::Characters(text)) {
    if (c.code == '"' || c.code == '\\')
      out += fmt::format("\\{}", static_cast<char>(c.code));
    else if (c.code < 0x20 || c.code == '<' || c.code == '>' || c.code == '&' || c.code == 0x2028 || c.code == 0x2029)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
    else
      text::append_utf8(out, c.code);
  }
  return out + "\"";
}

std::string page_style() {
  return R"(:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1b1f24;--soft:#57606a;--edge:#d9dee4;--best:#0067a3;
--wash:#eaf3fa}
@media (prefers-color-scheme:dark){:root{--page:#14181d;--card:#1c2128;--text:#e6eaef;--soft:#9aa5b1;--edge:#333b46;--best:#7cc4f4;
--wash:#1d2f3d}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",
"DejaVu Sans",sans-serif}
main{max-width:1180px;margin:0 auto;padding:32px 20px 64px}
h1{font-size:28px;line-height:1.2;margin:0 0 6px;overflow-wrap:anywhere}h2{font-size:20px;margin:0 0 4px}
h3{font-size:15px;margin:0 0 2px;overflow-wrap:anywhere}
p{margin:0 0 12px}.soft{color:var(--soft)}
code,pre{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:14px}
pre{background:var(--card);border:1px solid var(--edge);border-radius:8px;padding:12px 14px;white-space:pre-wrap;overflow-wrap:anywhere;margin:12px 0}
section{background:var(--card);border:1px solid var(--edge);border-radius:12px;padding:20px 22px;margin:18px 0}
.cards{display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));margin:18px 0}
.card{background:var(--card);border:1px solid var(--edge);border-radius:12px;padding:14px 16px}
.card b{display:block;font-size:18px;overflow-wrap:anywhere}.card span{color:var(--soft);font-size:14px;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{border-collapse:separate;border-spacing:0;font-size:14px;min-width:100%;font-variant-numeric:tabular-nums}
th,td{padding:7px 9px;border-bottom:1px solid var(--edge);text-align:left;vertical-align:top}
th{color:var(--soft);font-weight:600;vertical-align:bottom}td.n{white-space:nowrap}td.n,th.n{text-align:right}
tr:last-child td{border-bottom:0}
.scroll th:first-child,.scroll td:first-child{position:sticky;left:0;z-index:1;background:var(--card)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:0;font-size:14px}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
figure{margin:0;min-width:0}figcaption{font-size:14px;color:var(--soft)}
.narrow{display:none}
@media (max-width:640px){main{padding:18px 10px 40px}h1{font-size:22px}section{padding:14px 12px;border-radius:8px;margin:12px 0}
.wide{display:none}.narrow{display:block}.cards{grid-template-columns:1fr 1fr;gap:8px}.card{padding:10px}
.card b{font-size:15px}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}
.scroll td:first-child,.scroll th:first-child{min-width:34vw;max-width:42vw;white-space:normal;overflow-wrap:anywhere}}
@media print{section,.card{break-inside:avoid}}
)";
}

std::string page_of(const Page& page) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         label(page.title, 0) + "</title>\n<style>\n" + page_style() + page.style +
         "</style>\n</head>\n<body>\n<main>\n" + page.body + "</main>\n" +
         (page.script.empty() ? "" : "<script>\n" + page.script + "</script>\n") + "</body>\n</html>\n";
}

std::string section(const std::string& title, const std::string& lead, const std::string& body) {
  if (body.empty()) return "";
  return "<section>\n<h2>" + escaped(title) + "</h2>\n" +
         (lead.empty() ? "" : "<p class=\"soft\">" + escaped(lead) + "</p>\n") + body + "</section>\n";
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
