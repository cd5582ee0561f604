#include "show/maps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attune/show.h"
#include "base/error.h"
#include "base/text.h"

namespace attune::show {

namespace {

constexpr size_t kMapsAcross = 8;
constexpr float kLegend[] = {0.05f, 0.2f, 0.5f, 1.0f};

std::vector<float> corner(const std::vector<float>& weights, size_t rows, size_t columns, size_t all_columns) {
  std::vector<float> some;
  for (size_t r = 0; r < rows; ++r)
    some.insert(some.end(), weights.begin() + static_cast<std::ptrdiff_t>(r * all_columns),
                weights.begin() + static_cast<std::ptrdiff_t>(r * all_columns + columns));
  return some;
}

void check_weights(const AttentionLook& look) {
  const auto check_one = [&](const std::vector<float>& weights) {
    check(!weights.empty() && weights.size() == look.rows.size() * look.columns.size(), "draw_look",
          "{} weights for {} rows and {} columns", weights.size(), look.rows.size(), look.columns.size());
  };
  check_one(look.weights);
  for (const AttentionHead& h : look.each) check_one(h.weights);
}

/// Sizes and places of everything, in the units of a pen.
struct Plan {
  double cell = 0, left = 0, top = 0, width = 0, height = 0;
  size_t every = 1;  // which names there is room for
  std::vector<std::string> rows, columns;
  std::vector<PlacedMap> maps;
};

std::vector<std::string> names(const std::vector<std::string>& pieces, const Pen& pen) {
  std::vector<std::string> out;
  for (size_t i = 0; i < pieces.size(); ++i) out.push_back(pen.name(pieces[i], i + 1));
  return out;
}

double widest(const std::vector<std::string>& all, const Pen& pen) {
  int most = 0;
  for (const std::string& name : all) most = std::max(most, pen.letters_of(name));
  return pen.letter() * most;
}

/// Layers below each other, their heads side by side.
void place(const AttentionLook& look, const Pen& pen, Plan& p) {
  const auto rows = static_cast<double>(look.rows.size()), columns = static_cast<double>(look.columns.size());
  double title = 0;
  for (const PlacedMap& m : p.maps) title = std::max(title, pen.letter() * pen.letters_of(m.title));
  const double margin = pen.captions() ? pen.line() : 0, above = pen.captions() ? 1.5 * pen.line() : 0;
  const double step = std::max(p.cell * columns, title) + 1.5 * pen.line(),
               fall = above + p.top + p.cell * rows + pen.line();
  double x = 0, y = pen.captions() ? 4.5 * pen.line() : 0;
  size_t across = 0;
  for (size_t i = 0; i < p.maps.size(); ++i) {
    const bool other_layer = i > 0 && look.each.size() == p.maps.size() && look.each[i].layer != look.each[i - 1].layer;
    if (i > 0 && (across == kMapsAcross || other_layer)) {
      across = 0;
      y += fall;
    }
    x = margin + p.left + step * static_cast<double>(across);
    p.maps[i].x = x;
    p.maps[i].y = y + above + p.top;
    p.maps[i].first = across == 0;
    p.width = std::max(p.width, x + step);
    ++across;
  }
  p.height = y + fall;
}

Plan plan_of(const AttentionLook& look, bool large, const Pen& pen) {
  Plan p;
  p.rows = names(look.rows, pen);
  p.columns = names(look.columns, pen);
  const double line = pen.line(), most = static_cast<double>(std::max(look.rows.size(), look.columns.size()));
  p.cell = std::floor(large ? std::clamp(42 * line / most, 0.5 * line, 1.8 * line)
                            : std::clamp(16 * line / most, 0.25 * line, 1.1 * line));
  p.every = static_cast<size_t>(std::ceil(0.8 * line / p.cell));
  p.left = widest(p.rows, pen) + 0.6 * line;
  p.top = widest(p.columns, pen) + 0.6 * line;
  if (large)
    p.maps.push_back({title_of(look), &look.weights});
  else
    for (const AttentionHead& h : look.each) p.maps.push_back({title_of(h), &h.weights});
  place(look, pen, p);
  double words = 0;
  if (!pen.captions()) return p;
  for (const std::string& text : {heading_of(look), remarks_of(look)})
    words = std::max(words, pen.letter() * (pen.letters_of(text) + 2));
  p.width = std::max(p.width, words + 2 * line);
  return p;
}

void write_names(const Plan& p, const PlacedMap& m, Pen& pen) {
  const auto middle = [&](size_t i) { return p.cell * (static_cast<double>(i) + 0.5); };
  for (size_t c = 0; c < p.columns.size(); c += p.every)
    pen.write(m.x + middle(c) + 0.3 * pen.line(), m.y - 0.4 * pen.line(), Anchor::upward, p.columns[c]);
  if (!m.first) return;
  for (size_t r = 0; r < p.rows.size(); r += p.every)
    pen.write(m.x - 0.4 * pen.line(), m.y + middle(r) + 0.3 * pen.line(), Anchor::end, p.rows[r]);
}

void write_legend(Pen& pen) {
  double x = pen.line();
  const double y = 3.6 * pen.line();
  for (const float w : kLegend) {
    pen.shade(x, y - 0.8 * pen.line(), pen.line(), w);
    const std::string text = fmt::format("{:.0f} %", 100 * static_cast<double>(w));
    pen.write(x + 1.3 * pen.line(), y, Anchor::begin, text);
    x += 2.6 * pen.line() + pen.letter() * pen.letters_of(text);
  }
}

}  // namespace

AttentionLook clipped(const AttentionLook& look, size_t most) {
  check_weights(look);
  const size_t rows = std::min(look.rows.size(), most), columns = std::min(look.columns.size(), most);
  AttentionLook out = look;
  out.rows.resize(rows);
  out.columns.resize(columns);
  out.weights = corner(look.weights, rows, columns, look.columns.size());
  for (AttentionHead& h : out.each) h.weights = corner(h.weights, rows, columns, look.columns.size());
  return out;
}

std::string title_of(const AttentionHead& head) { return fmt::format("layer {}, head {}", head.layer, head.head); }

std::string title_of(const AttentionLook& look) {
  if (look.head >= 0 || look.heads == 1) return fmt::format("layer {}, head {}", look.layer, std::max(look.head, 0));
  return fmt::format("layer {}, mean of {} heads", look.layer, look.heads);
}

std::string heading_of(const AttentionLook& look) {
  const char* who = look.at == AttentionSite::cross     ? "The translation looks at its source"
                    : look.at == AttentionSite::encoder ? "The text looks at itself"
                    : look.task == "translate"          ? "The translation looks back at itself"
                                                        : "The text looks back at itself";
  return fmt::format("{}: {} layer{}", who, look.layers, look.layers == 1 ? "" : "s");
}

std::string remarks_of(const AttentionLook& look) {
  std::string out = "Down who looks, across what is looked at.";
  if (!look.silent.empty()) {
    std::vector<std::string> layers;
    for (const int l : look.silent) layers.push_back(std::to_string(l));
    out += fmt::format(" Layer{} {} ha{} no weights to show.", layers.size() == 1 ? "" : "s", join(layers, ", "),
                       layers.size() == 1 ? "s" : "ve");
  }
  return out;
}

float darkness(float weight) { return std::isnan(weight) ? 0.0f : std::sqrt(std::clamp(weight, 0.0f, 1.0f)); }

void draw_maps(const AttentionLook& look, bool large, Pen& pen) {
  check_weights(look);
  check(large || !look.each.empty(), "draw_look", "no heads were asked for");
  const Plan p = plan_of(look, large, pen);
  pen.begin(p.width, p.height);
  if (pen.captions()) {
    pen.write(pen.line(), 1.2 * pen.line(), Anchor::begin, heading_of(look), true);
    pen.write(pen.line(), 2.3 * pen.line(), Anchor::begin, remarks_of(look));
    write_legend(pen);
  }
  for (const PlacedMap& m : p.maps) {
    if (pen.captions()) pen.write(m.x, m.y - p.top - 0.3 * pen.line(), Anchor::begin, m.title, true);
    pen.draw(m, look, p.cell);
    write_names(p, m, pen);
  }
}

}  // namespace attune::show
