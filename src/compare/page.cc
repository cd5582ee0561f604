// The page of a comparison: one file that needs nothing else, with no scripts.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "attune/version.h"
#include "base/text.h"
#include "checkpoint/model_folder.h"
#include "compare/files.h"
#include "compare/table.h"
#include "inference/pattern_picture.h"
#include "recipe/settings.h"
#include "show/html.h"
#include "show/pattern.h"
#include "show/plot.h"

namespace attune {

namespace {

using show::escaped;
using show::section;
using VariantState = ComparedVariant::State;

constexpr double kNarrow = 372;    // a plot's width on a phone
constexpr size_t kEndLabels = 12;  // so many lines have names at their ends where there is room

constexpr const char* kStyle =
    R"(.two,.pictures{display:grid;gap:16px}
.two{grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr))}
.pictures{grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr))}.pictures+.pictures{margin-top:26px}
td:first-child{font-weight:600;white-space:nowrap}
td.best{color:var(--best);font-weight:700;background:var(--wash)}
.scroll+p{margin-top:10px}
td.reason{color:var(--soft)}td.reason div{max-width:min(70ch,52vw)}
ul.keys{list-style:none;padding:0;margin:0 0 10px;display:flex;flex-wrap:wrap;gap:4px 18px;font-size:14px}
ul.keys li{overflow-wrap:anywhere}
@media (max-width:640px){.pictures .heat{max-width:none}}
)";

std::string figure(const std::string& title, const std::string& drawing) {
  return drawing.empty() ? "" : "<figure>\n<h3>" + escaped(title) + "</h3>\n" + drawing + "</figure>\n";
}

/// Who leads in what.
std::string cards(const Comparison& c, const std::vector<TableColumn>& columns) {
  const struct {
    std::vector<std::string> titles;  // the first that there is
    const char *says, *unit;
  } wanted[] = {{{c.metric == "loss" || c.metric == "perplexity" ? "loss" : "test " + c.metric, c.metric, "loss"},
                 "best quality",
                 ""},
                {{"train tok/s"}, "trains fastest", " tokens/s"},
                {{"decode tok/s"}, "decodes fastest", " tokens/s"},
                {{"memory MB"}, "least memory", " MB"}};
  std::string out;
  for (const auto& w : wanted)
    for (const std::string& title : w.titles) {
      const auto column =
          std::find_if(columns.begin(), columns.end(), [&](const TableColumn& k) { return k.title == title; });
      if (column == columns.end()) continue;
      for (size_t i = 0; i < column->cells.size(); ++i) {
        if (!column->is_best(i)) continue;
        const std::string unit = *w.unit ? w.unit : " " + title;
        out += fmt::format("<div class=\"card\"><span>{}</span><b>{}</b><span>{}{}</span></div>\n", w.says,
                           show::label(c.variants[i].name, 60), column->cells[i], escaped(unit));
        break;
      }
      break;
    }
  return out.empty() ? "" : "<div class=\"cards\">\n" + out + "</div>\n";
}

std::string table(const std::vector<TableColumn>& columns, size_t rows) {
  std::string out = "<div class=\"scroll\">\n<table>\n<thead><tr>";
  const auto is_number = [](const TableColumn& k) {
    return std::any_of(k.numbers.begin(), k.numbers.end(), [](const auto& n) { return n.has_value(); });
  };
  for (const TableColumn& k : columns)
    if (k.title != "remarks")
      out += fmt::format("<th{} title=\"{}\">{}</th>", is_number(k) ? " class=\"n\"" : "", escaped(k.meaning),
                         escaped(k.title));
  out += "</tr></thead>\n<tbody>\n";
  const TableColumn* remarks = columns.back().title == "remarks" ? &columns.back() : nullptr;
  const size_t shown = columns.size() - (remarks ? 1 : 0);
  for (size_t i = 0; i < rows; ++i) {
    out += "<tr><td>" + show::label(columns[0].cells[i], 0) + "</td>";
    if (remarks && !remarks->cells[i].empty()) {  // instead of figures
      out += fmt::format("<td class=\"reason\" colspan=\"{}\"><div>{}</div></td></tr>\n",
                         std::max<size_t>(shown - 1, 1), show::label(remarks->cells[i], 0));
      continue;
    }
    for (size_t k = 1; k < shown; ++k)
      out +=
          fmt::format("<td class=\"n{}\">{}</td>", columns[k].is_best(i) ? " best" : "", escaped(columns[k].cells[i]));
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n</div>\n";
}

/// Which line is whose.
std::string keys_of(const Comparison& c) {
  std::string keys;
  for (size_t i = 0; i < c.variants.size(); ++i)
    if (!c.variants[i].curve.empty() || !c.variants[i].figures.work.empty())
      keys += "<li>" + show::draw_key(static_cast<int>(i)) + " " + show::label(c.variants[i].name, 60) + "</li>\n";
  return keys.empty() ? "" : "<ul class=\"keys\">\n" + keys + "</ul>\n";
}

/// The same plot twice: for screens with room, and for phones, where letters must stay as large.
std::string both_widths(const std::string& wide, const std::string& narrow) {
  if (wide.empty()) return "";
  return "<div class=\"wide\">\n" + wide + "</div>\n<div class=\"narrow\">\n" + narrow + "</div>\n";
}
std::string both_widths(show::LinePlot plot) {
  const std::string wide = show::draw_lines(plot);
  plot.width = kNarrow;
  plot.end_labels = false;
  return both_widths(wide, show::draw_lines(plot));
}

std::string learning(const Comparison& c) {
  show::LinePlot plot{"validation loss over updates", "updates", "validation loss"};
  double least = 1e300, most = 0;
  for (size_t i = 0; i < c.variants.size(); ++i) {
    show::Series s{c.variants[i].name, static_cast<int>(i), {}};
    for (const CurvePoint& p : c.variants[i].curve) {
      s.points.emplace_back(static_cast<double>(p.update), p.loss);
      least = std::min(least, p.loss);
      most = std::max(most, p.loss);
    }
    plot.series.push_back(std::move(s));
  }
  plot.width = 1090;
  plot.log_y = least > 0 && most > 8 * least;  // else the end would be a flat line
  plot.end_labels = c.variants.size() <= kEndLabels;
  const std::string drawn = both_widths(plot);
  return drawn.empty() ? "" : keys_of(c) + drawn;
}

template <class F>
std::string bars(const Comparison& c, const std::string& title, F value) {
  std::vector<show::Bar> all;
  for (size_t i = 0; i < c.variants.size(); ++i)
    if (c.variants[i].state == VariantState::finished && value(c.variants[i].figures) > 0)
      all.push_back({c.variants[i].name, static_cast<int>(i), value(c.variants[i].figures),
                     c.variants[i].figures.load.busy() ? "~" : ""});
  return figure(title, both_widths(show::draw_bars(title, all), show::draw_bars(title, all, kNarrow)));
}

template <class F>
std::string growth(const Comparison& c, const std::string& title, F value) {
  show::LinePlot plot{title, "length of source and target, tokens", "operations", true, true};
  for (double length = 64; length <= 16384; length *= 4) plot.x_ticks.push_back(length);
  for (size_t i = 0; i < c.variants.size(); ++i) {
    show::Series s{c.variants[i].name, static_cast<int>(i), {}};
    for (const WorkAtLength& w : c.variants[i].figures.work)
      s.points.emplace_back(static_cast<double>(w.length), value(w));
    plot.series.push_back(std::move(s));
  }
  plot.end_labels = c.variants.size() <= kEndLabels;
  return figure(title, both_widths(plot));
}

std::string pictures(const Comparison& c) {
  std::string out;
  for (const char* kind : {"encoder", "decoder"}) {  // a row of pictures each
    std::string row;
    for (const ComparedVariant& v : c.variants)
      for (const VariantPicture& p : v.figures.pictures) {
        const std::vector<float>& w = p.picture.weights;
        if (w.empty() || !p.place.starts_with(kind)) continue;
        row += fmt::format(
            "<figure>\n<h3>{}</h3>\n<figcaption>{}; darkest: {:.0f} %</figcaption>\n<div "
            "class=\"scroll\">{}</div></figure>\n",
            show::label(v.name, 60), escaped(p.place), 100 * static_cast<double>(*std::max_element(w.begin(), w.end())),
            show::draw_heat_map("attention of " + v.name + ", " + p.place, p.picture));
      }
    if (!row.empty()) out += "<div class=\"pictures\">\n" + row + "</div>\n";
  }
  return out;
}

/// Who may see whom in the mechanisms of the variants, those that see all left out: at the length of their lines.
std::string patterns(const Comparison& c) {
  std::string out;
  std::set<std::string> drawn;
  for (const ComparedVariant& v : c.variants) try {
      if (v.state != VariantState::finished) continue;
      const Recipe r = load_recipe(v.folder + "/" + kRecipeName);
      if (r.model.kind.kind != "transformer") continue;
      for (const bool causal : {false, true}) {
        if (!(causal ? has_decoder(r.model.shape) : has_encoder(r.model.shape))) continue;
        const std::vector<Choice>& own = causal ? r.model.decoder_attention : r.model.encoder_attention;
        for (const Choice& choice : own.empty() ? r.model.attention : own) try {
            const PatternPicture p = picture_of(choice, causal, std::clamp<int64_t>(r.data.max_length, 16, 512));
            if (p.density == 1 || !drawn.insert(p.mechanism + (causal ? " causal" : "")).second) continue;
            out += fmt::format(
                "<figure>\n<h3>{}</h3>\n<figcaption>{}{} positions: {:.1f} % of the pairs</figcaption>\n{}</figure>\n",
                show::label(p.mechanism, 60), causal ? "decoder, " : "", p.length, 100 * p.density,
                show::draw_pattern_svg(p));
          } catch (const Error&) {}  // one that has no pattern
      }
    } catch (const Error&) {}  // a folder that is gone
  return out.empty() ? "" : "<div class=\"pictures\">\n" + out + "</div>\n";
}

std::string circumstances(const Comparison& c) {
  std::string out = "<dl>\n", seeds;
  const auto line = [&](const std::string& name, const std::string& text) {
    out += "<dt>" + escaped(name) + "</dt><dd>" + show::label(text, 0) + "</dd>\n";
  };
  std::vector<uint64_t> seen;
  for (const ComparedVariant& v : c.variants)
    if (v.state != VariantState::refused && std::find(seen.begin(), seen.end(), v.seed) == seen.end()) {
      seen.push_back(v.seed);
      seeds += (seeds.empty() ? "" : ", ") + std::to_string(v.seed);
    }
  line("machine", c.machine);
  line("threads", std::to_string(c.threads));
  line(seen.size() == 1 ? "seed" : "seeds", seeds);
  line("program", std::string("attune ") + version());
  line("recipe", c.recipe);
  for (const TableColumn& k : columns_of(c))
    if (k.title != "variant" && k.title != "remarks") line(k.title, k.meaning);
  return out + "</dl>\n";
}

}  // namespace

std::string comparison_page(const Comparison& c) {
  const std::vector<TableColumn> columns = columns_of(c);
  const auto count = static_cast<int64_t>(c.variants.size());
  const auto finished = std::count_if(c.variants.begin(), c.variants.end(),
                                      [](const ComparedVariant& v) { return v.state == VariantState::finished; });
  const std::string speeds =
      bars(c, "Training, target tokens a second", [](const VariantFigures& f) { return f.train_tokens_per_s; }) +
      bars(c, "Decoding, tokens a second", [](const VariantFigures& f) { return f.decode_tokens_per_s; });
  const std::string work = growth(c, "Self-attention alone", [](const WorkAtLength& w) { return w.self_attention; }) +
                           growth(c, "A whole update", [](const WorkAtLength& w) { return w.update; });
  const auto two = [](const std::string& figures) {
    return figures.empty() ? "" : "<div class=\"two\">\n" + figures + "</div>\n";
  };
  const std::string rough = rough_note(c),
                    marks = rough.empty() ? "" : "<p class=\"soft\">" + escaped(rough) + "</p>\n";
  const std::string keys =
      c.variants.size() > kEndLabels ? keys_of(c) : "<div class=\"narrow\">\n" + keys_of(c) + "</div>\n";

  const std::string body =
      "<h1>" + show::label(c.recipe, 100) + "</h1>\n<p class=\"soft\">" +
      fmt::format("{} variants, trained one after another on the same machine with the same data; {} finished.", count,
                  finished) +
      "</p>\n<pre><code>" + escaped(c.command) + "</code></pre>\n" + cards(c, columns) +
      section("Figures", "The best of each column stands out. What the headlines mean is told at the end.",
              table(columns, c.variants.size()) + marks) +
      section("Learning", "Loss on the validation set, per target token.", learning(c)) +
      section("Speed", rough, two(speeds)) +
      section(
          "Growth of work",
          "Operations of one update on one pair of sequences, counted from the model: both axes grow by factors, so "
          "that a slope of 1 is work in proportion to the length and a slope of 2 to its square.",
          work.empty() ? "" : keys + two(work)) +
      section("Patterns", "Down who looks, across what may be seen, at the length of the longest lines (512 at most).",
              patterns(c)) +
      section("Attention",
              "Down who looked, across what was looked at, for the same sentence of the validation set; the sharpest "
              "head of the layer.",
              pictures(c)) +
      section("How it was measured", "", circumstances(c));
  return show::page_of({c.recipe + " compared", kStyle + show::plot_style(), body});
}

}  // namespace attune
