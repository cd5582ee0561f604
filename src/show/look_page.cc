// The page of a look: one file that needs nothing else.
#include <fmt/core.h>

#include <algorithm>

#include "attune/show.h"
#include "base/text.h"
#include "show/html.h"
#include "show/look_json.h"
#include "show/maps.h"
#include "show/plot.h"
#include "show/svg_maps.h"

namespace attune {

namespace {

using show::escaped;
using show::section;

constexpr int kLongestQuote = 600;  // columns

constexpr const char* kLookStyle =
    R"(svg text{font-size:12px;fill:var(--text)}.maps{display:block}.c,.shade{fill:var(--heat)}.c:hover{stroke:var(--k1);stroke-width:.1}
.ground{stroke:var(--edge)}
.heads{display:grid;grid-template-columns:repeat(auto-fill,minmax(116px,1fr));gap:10px}
.map{font:inherit;font-size:13px;text-align:left;color:var(--text);background:none;border:1px solid var(--edge);border-radius:8px;
padding:8px;cursor:pointer;display:flex;flex-direction:column}
.map[aria-pressed=true]{border-color:var(--best);box-shadow:0 0 0 1px var(--best);background:var(--wash)}
.small{display:block;width:100%;aspect-ratio:1;margin-bottom:6px;background:var(--card);border:1px solid var(--edge)}
.pieces{display:flex;flex-wrap:wrap;gap:4px;margin:0 0 14px;isolation:isolate}
.pieces span{position:relative;padding:2px 6px;border:1px solid var(--edge);border-radius:6px;font-size:15px;cursor:default}
.pieces span::before{content:"";position:absolute;inset:0;z-index:-1;border-radius:5px;background:var(--heat);opacity:var(--w,0)}
.pieces .on{border-color:var(--k1);box-shadow:0 0 0 1px var(--k1)}
.pairs{display:block;max-width:100%;height:auto;overflow:visible}.pairs text{font-size:15px}
.pair{fill:none;stroke:var(--heat);stroke-width:2;opacity:.65}.pair:hover{stroke:var(--k1);stroke-width:3.5;opacity:1}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:14px;color:var(--soft);margin:0 0 10px}
.legend svg{width:14px;height:14px;vertical-align:-2px;border:1px solid var(--edge)}
blockquote{margin:0 0 8px;overflow-wrap:anywhere}#says{min-height:1.5em}
)";

// Answers to pointers, taps and keys: a head is shown large, a piece tells what it looks at and who looks at it.
constexpr const char* kLookScript = R"('use strict';
(function () {
  var look = JSON.parse(document.getElementById('look').textContent), weights = look.weights;
  var all = function (what) { return Array.prototype.slice.call(document.querySelectorAll(what)); };
  var cells = all('rect.c'), maps = all('button.map'), looks = all('.looks span'), looked = all('.looked span');
  var says = document.getElementById('says'), which = document.getElementById('which');
  var columns = look.columns.length, at = [-1, -1];
  function percent(w) { return (100 * w).toFixed(1) + ' %'; }
  function words(r, c) { return look.rows[r] + ' → ' + look.columns[c] + ': ' + percent(weights[r][c]); }
  function wash(spans, weight) {
    spans.forEach(function (s, i) { s.style.setProperty('--w', 0.6 * Math.sqrt(Math.max(0, weight(i)))); });
  }
  function point(r, c) {
    at = [r, c];
    wash(looked, function (i) { return r < 0 ? 0 : weights[r][i]; });
    wash(looks, function (i) { return r < 0 && c >= 0 ? weights[i][c] : 0; });
    looks.forEach(function (s, i) { s.className = i === r ? 'on' : ''; });
    looked.forEach(function (s, i) { s.className = i === c ? 'on' : ''; });
    if (r < 0 && c < 0) return;
    if (r >= 0 && c >= 0) { says.textContent = words(r, c); return; }
    var order = (r >= 0 ? look.columns : look.rows).map(function (_, i) { return i; });
    var weight = function (i) { return r >= 0 ? weights[r][i] : weights[i][c]; };
    order.sort(function (a, b) { return weight(b) - weight(a); });
    says.textContent = order.slice(0, 3).map(function (i) { return r >= 0 ? words(r, i) : words(i, c); }).join('; ');
  }
  function show(n) {
    weights = n === 0 ? look.weights : look.sites[n - 1].weights;
    cells.forEach(function (cell, i) {
      var r = Math.floor(i / columns), c = i % columns;
      cell.setAttribute('fill-opacity', Math.sqrt(Math.max(0, weights[r][c])).toFixed(3));
      cell.firstChild.textContent = words(r, c);
    });
    maps.forEach(function (m, i) { m.setAttribute('aria-pressed', i === n ? 'true' : 'false'); });
    which.textContent = maps[n].textContent.trim();
    point(at[0], at[1]);
  }
  function answer(list, f) {
    list.forEach(function (e, i) {
      ['mouseover', 'focus', 'click'].forEach(function (event) { e.addEventListener(event, function () { f(i); }); });
    });
  }
  answer(cells, function (i) { point(Math.floor(i / columns), i % columns); });
  answer(looks, function (i) { point(i, -1); });
  answer(looked, function (i) { point(-1, i); });
  maps.forEach(function (m, i) {
    m.addEventListener('click', function () {
      show(i);
      which.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
    });
  });
  says.textContent = 'Point at a cell or a piece, or tap it.';
})();
)";

std::string pieces(const char* kind, const std::vector<std::string>& all) {
  std::string out = fmt::format("<div class=\"pieces {}\">\n", kind);
  for (const std::string& piece : all)
    out += "<span tabindex=\"0\">" + (piece.empty() ? "∅" : show::label(piece, 40)) + "</span>\n";
  return out + "</div>\n";
}

std::string legend() {
  std::string out = "<div class=\"legend\">";
  for (const float w : {0.05f, 0.2f, 0.5f, 1.0f})
    out += fmt::format(
        "<span><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect class=\"shade\" width=\"1\" height=\"1\" "
        "fill-opacity=\"{:.3g}\"/></svg> {:.0f} %</span>",
        show::darkness(w), 100 * w);
  return out + "</div>\n";
}

std::string map_button(const std::string& title, const std::vector<float>& weights, size_t columns, bool chosen) {
  return fmt::format("<button type=\"button\" class=\"map\" aria-pressed=\"{}\">{}{}</button>\n", chosen,
                     show::small_map(title, weights, columns), escaped(title));
}

std::string heads(const AttentionLook& look) {
  std::string out = map_button(show::title_of(look), look.weights, look.columns.size(), true);
  for (const AttentionHead& h : look.each) out += map_button(show::title_of(h), h.weights, look.columns.size(), false);
  return "<div class=\"heads\">\n" + out + "</div>\n";
}

std::string words_together(const AttentionLook& look) {
  const std::string drawn = show::draw_pairs(look);
  if (drawn.empty()) return "";
  std::vector<std::string> pharaoh;
  for (const auto& [source, target] : look.alignment) pharaoh.push_back(fmt::format("{}-{}", source, target));
  return drawn + "<p class=\"soft\">In pairs, counted from 0: <code>" + join(pharaoh, " ") + "</code></p>\n";
}

/// What the drawings leave out, of the whole look.
std::string left_out(const AttentionLook& look) {
  const size_t most = std::max(look.rows.size(), look.columns.size());
  if (most <= kMostDrawn) return "";
  return fmt::format("<p>The first {} of {} pieces are drawn.</p>\n", kMostDrawn, most);
}

}  // namespace

std::string look_page(const AttentionLook& whole) {
  const AttentionLook look = show::clipped(whole, kMostDrawn);
  std::string body = "<h1>What attended to what</h1>\n<p class=\"soft\">" + escaped(show::heading_of(look)) + ". " +
                     escaped(show::remarks_of(look)) + "</p>\n<blockquote>" + show::label(look.source, kLongestQuote) +
                     "</blockquote>\n";
  if (look.text != look.source)
    body += "<blockquote><b>" + show::label(look.text, kLongestQuote) + "</b></blockquote>\n";
  body += left_out(whole);
  body += "<section>\n<h2 id=\"which\">" + escaped(show::title_of(look)) +
          "</h2>\n<p class=\"soft\" id=\"says\">Hold the pointer over a cell to see its weight.</p>\n" + legend() +
          "<div class=\"scroll\">\n" + show::svg_maps(look, true, true) + "</div>\n<h3>Who looks</h3>\n" +
          pieces("looks", look.rows) + "<h3>What is looked at</h3>\n" + pieces("looked", look.columns) + "</section>\n";
  body +=
      section("All heads", "Choose one to see it large. The stronger the colour, the larger the weight.", heads(look));
  body += section(
      "Which word belongs to which",
      "For each piece of the translation, the piece of the source it looks at most, by " + show::title_of(look) + ".",
      words_together(look));
  body += "<script type=\"application/json\" id=\"look\">" + show::json_of(look, 4) + "</script>\n";
  return show::page_of({"What attended to what: " + look.source, show::plot_style() + kLookStyle, body, kLookScript});
}

}  // namespace attune
