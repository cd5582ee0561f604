#include "show/svg_maps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attune/show.h"
#include "show/html.h"
#include "show/maps.h"
#include "text/piece_words.h"
#include "text/utf8.h"
#include "text/width.h"

namespace attune {

namespace show {

namespace {

constexpr int kLongestSvgName = 16, kLongestPairWord = 18, kSvgSteps = 20;
constexpr double kSvgLetter = 7.2, kSvgLine = 15;

/// For a file of its own, which may come to lie on any ground.
constexpr const char* kSvgStyle =
    "<style>text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"Noto Sans CJK SC\",\"DejaVu "
    "Sans\","
    "sans-serif;fill:#1b1f24}.strong{font-weight:600}.c,.shade{fill:#08306b}.ground{fill:none;stroke:#d9dee4}</style>"
    "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>";

/// Cells of like darkness are one path: a page of many heads stays small.
std::string shaded_cells(const std::vector<float>& weights, size_t columns) {
  std::string paths[kSvgSteps + 1], out;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto step = static_cast<size_t>(std::lround(kSvgSteps * darkness(weights[i])));
    paths[step] += fmt::format("M{} {}h1v1h-1z", i % columns, i / columns);
  }
  for (int s = 1; s <= kSvgSteps; ++s)
    if (const std::string& d = paths[s]; !d.empty())
      out += fmt::format("<path class=\"shade\" fill-opacity=\"{:.2f}\" d=\"{}\"/>", s / double{kSvgSteps}, d);
  return out;
}

class SvgPen : public Pen {
 public:
  SvgPen(bool large, bool in_page) : large_(large), in_page_(in_page) {}
  double letter() const override { return kSvgLetter; }
  double line() const override { return kSvgLine; }
  std::string name(const std::string& text, size_t) const override {
    return text::shortened(text::harmless(text), kLongestSvgName);
  }
  int letters_of(const std::string& text) const override { return text::display_width(text); }
  bool captions() const override { return !in_page_; }

  void begin(double width, double height) override {
    out_ = fmt::format(
        "<svg{2} class=\"maps\" role=\"img\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\">",
        width, height, in_page_ ? "" : " xmlns=\"http://www.w3.org/2000/svg\"");
    if (!in_page_) out_ += kSvgStyle;
  }
  void write(double x, double y, Anchor anchor, const std::string& text, bool strong) override {
    const std::string place = anchor == Anchor::upward
                                  ? fmt::format("transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", x, y)
                                  : fmt::format("x=\"{:.1f}\" y=\"{:.1f}\"", x, y);
    const char* how = anchor == Anchor::end      ? " text-anchor=\"end\""
                      : anchor == Anchor::middle ? " text-anchor=\"middle\""
                                                 : "";
    out_ += fmt::format("<text {}{}{}>{}</text>\n", place, how, strong ? " class=\"strong\"" : "", label(text, 0));
  }
  void draw(const PlacedMap& map, const AttentionLook& look, double cell) override {
    const size_t columns = look.columns.size();
    const auto width = cell * static_cast<double>(columns), height = cell * static_cast<double>(look.rows.size());
    out_ += fmt::format("<rect class=\"ground\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", map.x, map.y, width,
                        height);
    out_ += fmt::format("<g transform=\"translate({} {}) scale({})\"><title>{}</title>", map.x, map.y, cell, map.title);
    if (!large_) out_ += shaded_cells(*map.weights, columns);
    for (size_t i = 0; large_ && i < map.weights->size(); ++i) {
      const float w = (*map.weights)[i];
      out_ += fmt::format(
          "<rect class=\"c\" x=\"{}\" y=\"{}\" width=\"1\" height=\"1\" fill-opacity=\"{:.3g}\">"
          "<title>{} → {}: {:.1f} %</title></rect>",
          i % columns, i / columns, darkness(w), label(look.rows[i / columns], 0), label(look.columns[i % columns], 0),
          100 * static_cast<double>(w));
    }
    out_ += "</g>\n";
  }
  void shade(double x, double y, double size, float weight) override {
    out_ += fmt::format(
        "<rect class=\"ground\" x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2}\" height=\"{2}\"/><rect class=\"shade\" "
        "x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2}\" height=\"{2}\" fill-opacity=\"{3:.3g}\"/>",
        x, y, size, darkness(weight));
  }
  std::string svg() const { return out_ + "</svg>\n"; }

 private:
  bool large_, in_page_;
  std::string out_;
};

/// What stands between white space, the first so many.
std::vector<std::string> words_in(const std::string& text, size_t most) {
  std::vector<std::string> words;
  bool inside = false;
  for (const text::Character c : text::Characters(text)) {
    const bool space = text::is_space(c.code);
    if (!space && !inside) words.emplace_back();
    if (!space) text::append_utf8(words.back(), c.code);
    inside = !space;
  }
  words.resize(std::min(words.size(), most));
  return words;
}

}  // namespace

std::string svg_maps(const AttentionLook& look, bool large, bool in_page) {
  SvgPen pen(large, in_page);
  draw_maps(look, large, pen);
  return pen.svg();
}

std::string small_map(const std::string& title, const std::vector<float>& weights, size_t columns) {
  return fmt::format(
      "<svg class=\"small\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\">{}</svg>",
      label(title, 0), columns, weights.size() / std::max<size_t>(columns, 1), shaded_cells(weights, columns));
}

std::string draw_pairs(const AttentionLook& look) {
  const std::vector<std::string> source = words_in(look.source, kMostDrawn), target = words_in(look.text, kMostDrawn);
  if (look.alignment.empty()) return "";
  constexpr double kRow = 24, kBetween = 110;
  const auto width_of = [](const std::vector<std::string>& words) {
    int most = 0;
    for (const std::string& w : words) most = std::max(most, std::min(kLongestPairWord, text::display_width(w)));
    return 9.5 * most + 10;  // letters may be capitals
  };
  const double left = width_of(source), right = left + kBetween, width = right + width_of(target),
               height = kRow * static_cast<double>(std::max(source.size(), target.size()));
  const auto middle = [](size_t i) { return kRow * (static_cast<double>(i) + 0.5); };
  std::string out = fmt::format(
      "<svg class=\"pairs\" role=\"img\" aria-label=\"which word belongs to which\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\">\n",
      width, height);
  for (const auto& [s, t] : look.alignment) {
    const auto from = static_cast<size_t>(s), to = static_cast<size_t>(t);
    if (from >= source.size() || to >= target.size()) continue;
    out += fmt::format(
        "<path class=\"pair\" d=\"M{0:.1f} {1:.1f}C{2:.1f} {1:.1f} {2:.1f} {3:.1f} {4:.1f} {3:.1f}\"><title>{5} – "
        "{6}</title></path>\n",
        left, middle(from), left + kBetween / 2, middle(to), right, label(source[from], 0), label(target[to], 0));
  }
  for (size_t i = 0; i < source.size(); ++i)
    out += fmt::format("<text text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left - 6, middle(i) + 5,
                       label(source[i], kLongestPairWord));
  for (size_t i = 0; i < target.size(); ++i)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", right + 6, middle(i) + 5,
                       label(target[i], kLongestPairWord));
  return out + "</svg>\n";
}

}  // namespace show

std::string look_svg(const AttentionLook& look, bool large) {
  return show::svg_maps(show::clipped(look, kMostDrawn), large, false);
}

}  // namespace attune
