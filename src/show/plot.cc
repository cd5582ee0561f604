#include "show/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attune/text.h"
#include "show/html.h"
#include "text/width.h"

namespace attune::show {

namespace {

constexpr int kPlotColours = 8, kMarkers = 4, kDashes = 3;
constexpr double kHeight = 340;
constexpr double kLetter = 7;        // a letter's width, about
constexpr int kLabel = 12;           // columns of a label of a heat map
constexpr size_t kMostLabels = 12;   // at the ends of lines; more would be a heap
constexpr size_t kMostMarkers = 30;  // of a line
constexpr int kLongestLabel = 26;    // columns

/// Pixels with a digit behind the point, without it where it is 0.
std::string px(double x) {
  std::string text = fmt::format("{:.1f}", x);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string style_class(int style) {
  return fmt::format("k{} d{}", style % kPlotColours, style / kPlotColours % kDashes);
}

std::string marker(int style, double x, double y) {
  constexpr double r = 3.6;
  switch ((style + style / kPlotColours) % kMarkers) {  // lines of one colour differ in their markers too
    case 0:
      return fmt::format("M{} {}a{} {} 0 1 0 {} 0a{} {} 0 1 0 -{} 0z", px(x - r), px(y), r, r, 2 * r, r, r, 2 * r);
    case 1:
      return fmt::format("M{} {}h{}v{}h-{}z", px(x - r + .4), px(y - r + .4), 2 * r - .8, 2 * r - .8, 2 * r - .8);
    case 2:
      return fmt::format("M{} {}l{} {}l-{} {}l-{} -{}z", px(x), px(y - r - .8), r + .8, r + .8, r + .8, r + .8, r + .8,
                         r + .8);
    default:
      return fmt::format("M{} {}l{} {}h-{}z", px(x), px(y - r), r + .4, 1.9 * r, 2 * r + .8);
  }
}

std::string open_svg(const std::string& title, double width, double height, const char* kind) {
  return fmt::format("<svg class=\"{0}\" role=\"img\" aria-label=\"{1}\" viewBox=\"0 0 {2} {3}\" width=\"{2}\">", kind,
                     label(title, 0), px(width), px(height));
}

// --- axes ------------------------------------------------------------------------------------------------------------

struct Axis {
  bool log = false;
  double low = 0, high = 1;  // values
  double from = 0, to = 1;   // pixels
  double along(double v) const { return log ? std::log10(v) : v; }
  double at(double v) const { return from + (along(v) - along(low)) / (along(high) - along(low)) * (to - from); }
};

double nice_step(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 5)));
  for (const double step : {1.0, 2.0, 5.0})
    if (span / (step * power) <= 6) return step * power;
  return 10 * power;
}

std::vector<double> ticks_of(const Axis& a) {
  std::vector<double> ticks;
  if (!a.log) {
    const double step = nice_step(a.high - a.low);
    for (double v = std::ceil(a.low / step - 1e-9) * step; v <= a.high + 1e-9 * step; v += step)
      ticks.push_back(std::abs(v) < 1e-9 * step ? 0 : v);
    return ticks;
  }
  const double decades = std::log10(a.high / a.low);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 7)));
  for (int e = static_cast<int>(std::floor(std::log10(a.low))); e <= std::log10(a.high) + 1e-9; e += every)
    for (const double m : {1.0, 2.0, 5.0}) {
      const double v = m * std::pow(10, e);
      if (v >= a.low * 0.999999 && v <= a.high * 1.000001 && (m == 1 || decades < 2.5)) ticks.push_back(v);
    }
  return ticks;
}

/// The range of all that is drawn, with some room.
void fit(Axis& a, const std::vector<Series>& series, bool of_x) {
  bool any = false;
  for (const Series& s : series)
    for (const auto& [x, y] : s.points) {
      const double v = of_x ? x : y;
      a.low = any ? std::min(a.low, v) : v;
      a.high = any ? std::max(a.high, v) : v;
      any = true;
    }
  if (a.log) {
    if (a.low == a.high) a.low /= 2, a.high *= 2;
    if (of_x) return;
    const double room = std::pow(a.high / a.low, 0.05);
    a.low /= room;
    a.high *= room;
    return;
  }
  if (a.low == a.high) {
    const double room = a.low == 0 ? 1 : std::abs(a.low) / 10;
    a.low -= room;
    a.high += room;
  }
  if (of_x) {
    a.low = std::min(a.low, 0.0);
    return;
  }
  const double step = nice_step(a.high - a.low);
  a.low = std::floor(a.low / step + 1e-9) * step;
  a.high = std::ceil(a.high / step - 1e-9) * step;
}

std::string grid(const Axis& x, const Axis& y, const LinePlot& plot) {
  std::string out, lines;
  for (const double v : ticks_of(y)) {
    lines += fmt::format("M{} {}H{}", px(x.from), px(y.at(v)), px(x.to));
    out += fmt::format("<text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>", px(x.from - 8),
                       px(y.at(v) + 4), short_number(v));
  }
  const bool given = !plot.x_ticks.empty();
  for (const double v : given ? plot.x_ticks : ticks_of(x)) {
    if (v < x.low || v > x.high) continue;
    lines += fmt::format("M{} {}v5", px(x.at(v)), px(y.from));
    out += fmt::format("<text class=\"tick\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>", px(x.at(v)),
                       px(y.from + 20), given ? thousands(static_cast<int64_t>(v)) : short_number(v));
  }
  out += fmt::format("<text class=\"name\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>", px((x.from + x.to) / 2),
                     px(kHeight - 6), label(plot.x_name, 0));
  out += fmt::format("<text class=\"name\" text-anchor=\"middle\" transform=\"translate(13 {}) rotate(-90)\">{}</text>",
                     px((y.from + y.to) / 2), label(plot.y_name, 0));
  return "<path class=\"grid\" d=\"" + lines + "\"/>" + out;
}

/// Names at the ends of the lines, moved apart where they would cover each other.
std::string end_labels(const std::vector<Series>& series, const Axis& x, const Axis& y) {
  struct Place {
    const Series* series;
    double y;
  };
  std::vector<Place> places;
  for (const Series& s : series) places.push_back({&s, y.at(s.points.back().second)});
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.y < b.y; });
  constexpr double kApart = 15;
  for (size_t i = 1; i < places.size(); ++i) places[i].y = std::max(places[i].y, places[i - 1].y + kApart);
  double lowest = kHeight - 10;
  for (size_t i = places.size(); i-- > 0; lowest -= kApart) places[i].y = std::min(places[i].y, lowest);
  std::string out;
  for (const Place& p : places)
    out += fmt::format("<path class=\"mark k{}\" d=\"{}\"/><text class=\"end\" x=\"{}\" y=\"{}\">{}</text>",
                       p.series->style % kPlotColours, marker(p.series->style, x.to + 14, p.y), px(x.to + 23),
                       px(p.y + 4), label(p.series->name, kLongestLabel));
  return out;
}

}  // namespace

std::string draw_lines(const LinePlot& plot) {
  LinePlot shown = plot;
  double longest = 0;
  for (Series& s : shown.series) {
    std::erase_if(s.points, [&](const auto& p) {
      return !std::isfinite(p.first) || !std::isfinite(p.second) || (plot.log_x && p.first <= 0) ||
             (plot.log_y && p.second <= 0);
    });
    longest = std::max(longest, std::min<double>(kLongestLabel, text::display_width(s.name)));
  }
  std::erase_if(shown.series, [](const Series& s) { return s.points.empty(); });
  if (shown.series.empty()) return "";
  const bool labelled = plot.end_labels && shown.series.size() <= kMostLabels;
  Axis x{plot.log_x, 0, 1, 62, plot.width - 28 - (labelled ? kLetter * longest : 0)},
      y{plot.log_y, 0, 1, kHeight - 48, 12};
  fit(x, shown.series, true);
  fit(y, shown.series, false);
  std::string out = open_svg(plot.title, plot.width, kHeight, "plot") + grid(x, y, shown);
  for (const Series& s : shown.series) {
    std::string points, markers;
    for (const auto& [px_x, px_y] : s.points) {
      points += (points.empty() ? "" : " ") + px(x.at(px_x)) + "," + px(y.at(px_y));
      if (s.points.size() <= kMostMarkers) markers += marker(s.style, x.at(px_x), y.at(px_y));
    }
    out += fmt::format("<g class=\"{}\"><title>{}</title><polyline class=\"line\" points=\"{}\"/>",
                       style_class(s.style), label(s.name, 0), points);
    if (!markers.empty()) out += "<path class=\"mark\" d=\"" + markers + "\"/>";
    out += "</g>";
  }
  return out + (labelled ? end_labels(shown.series, x, y) : "") + "</svg>\n";
}

std::string draw_bars(const std::string& title, const std::vector<Bar>& bars, double all) {
  if (bars.empty()) return "";
  double longest = 0, most = 0;
  for (const Bar& b : bars) {
    longest = std::max(longest, std::min<double>(kLongestLabel, text::display_width(b.name)));
    most = std::max(most, b.value);
  }
  constexpr double kRow = 30, kBar = 18;
  const double from = kLetter * longest + 18, room = all - from - 70, height = kRow * static_cast<double>(bars.size());
  std::string out = open_svg(title, all, height, "plot bars");
  for (size_t i = 0; i < bars.size(); ++i) {
    const Bar& b = bars[i];
    const double top = kRow * static_cast<double>(i) + (kRow - kBar) / 2, width = most > 0 ? room * b.value / most : 0;
    out += fmt::format(
        "<g class=\"{}\"><text class=\"bar-name\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>"
        "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"/>"
        "<text class=\"figure\" x=\"{}\" y=\"{}\">{}</text></g>",
        style_class(b.style), px(from - 10), px(top + 13), label(b.name, kLongestLabel), px(from), px(top),
        px(std::max(width, 1.0)), px(kBar), px(from + width + 8), px(top + 13),
        escaped(b.mark) + short_number(b.value));
  }
  return out + "</svg>\n";
}

std::string draw_heat_map(const std::string& title, const AttentionPicture& p) {
  const size_t rows = p.rows.size(), columns = p.columns.size();
  if (rows == 0 || columns == 0 || p.weights.size() != rows * columns) return "";
  const double cell = std::clamp(560 / static_cast<double>(std::max(rows, columns)), 8.0, 22.0);
  const size_t every = cell < 13 ? 2 : 1;  // which labels there is room for
  const auto widest = [](const std::vector<std::string>& labels) {
    int most = 0;
    for (const std::string& l : labels) most = std::max(most, std::min(kLabel, text::display_width(l)));
    return kLetter * most + 10;
  };
  const double left = widest(p.rows), top = widest(p.columns) * 0.87 + 8;
  const double width = left + cell * static_cast<double>(columns) + 40,
               height = top + cell * static_cast<double>(rows) + 4;
  std::string out = open_svg(title, width, height, "heat");
  out += fmt::format("<rect class=\"ground\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", px(left), px(top),
                     px(cell * static_cast<double>(columns)), px(cell * static_cast<double>(rows)));
  for (size_t r = 0; r < rows; r += every)
    out += fmt::format("<text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>", px(left - 6),
                       px(top + cell * (static_cast<double>(r) + 0.5) + 4), label(p.rows[r], kLabel));
  for (size_t c = 0; c < columns; c += every)
    out += fmt::format("<text class=\"tick\" transform=\"translate({} {}) rotate(-60)\">{}</text>",
                       px(left + cell * (static_cast<double>(c) + 0.5) + 3), px(top - 6), label(p.columns[c], kLabel));
  const float most = std::max(1e-9f, *std::max_element(p.weights.begin(), p.weights.end()));
  std::string shades[10];
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      const int shade = static_cast<int>(std::ceil(10 * p.weights[r * columns + c] / most - 0.5f)) - 1;
      if (shade < 0) continue;
      shades[std::min(shade, 9)] +=
          fmt::format("M{} {}h{}v{}h-{}z", px(left + cell * static_cast<double>(c) + 0.5),
                      px(top + cell * static_cast<double>(r) + 0.5), px(cell - 1), px(cell - 1), px(cell - 1));
    }
  for (int i = 0; i < 10; ++i)
    if (!shades[i].empty())
      out += fmt::format("<path class=\"cell\" fill-opacity=\"{:.1f}\" d=\"{}\"/>", 0.1 * (i + 1), shades[i]);
  return out + "</svg>\n";
}

std::string draw_key(int style) {
  return fmt::format(
      "<svg class=\"key {}\" aria-hidden=\"true\" viewBox=\"0 0 34 12\" width=\"34\"><path class=\"line\" d=\"M1 "
      "6h32\"/>"
      "<path class=\"mark\" d=\"{}\"/></svg>",
      style_class(style), marker(style, 17, 6));
}

std::string plot_style() {
  // From the palette of Okabe and Ito 2008, "Color Universal Design", moved so that any two of them differ by 20 or
  // more (CIE76) as people see them who lack one of the three receptors, on light ground and on dark.
  return R"(:root{--k0:#195999;--k1:#ee770c;--k2:#008e5b;--k3:#ce83af;--k4:#61470b;--k5:#54a0f9;--k6:#313b2f;--k7:#6c27c9;
--grid:#dfe3e8;--heat:#195999}
@media (prefers-color-scheme:dark){:root{--k0:#6398ee;--k1:#ea6b21;--k2:#25e886;--k3:#f571af;--k4:#ffdd44;--k5:#9ddbff;
--k6:#e6ffe6;--k7:#815fff;--grid:#333b46;--heat:#6398ee}}
.k0{--k:var(--k0)}.k1{--k:var(--k1)}.k2{--k:var(--k2)}.k3{--k:var(--k3)}
.k4{--k:var(--k4)}.k5{--k:var(--k5)}.k6{--k:var(--k6)}.k7{--k:var(--k7)}
.plot,.heat{display:block;max-width:100%;height:auto}
.plot text,.heat text{font-size:12px;fill:var(--soft)}
.plot .name{font-size:13px}.plot .end{fill:var(--text);font-size:13px}
.plot .bar-name{fill:var(--text);font-size:13px}.plot .figure{fill:var(--text);font-size:13px;font-weight:600}
.heat text{font-size:11px}
.grid{stroke:var(--grid);stroke-width:1;fill:none}
.line{fill:none;stroke:var(--k);stroke-width:2.2;stroke-linejoin:round}
.d1 .line{stroke-dasharray:7 4}.d2 .line{stroke-dasharray:2 4}
.mark,.bar{fill:var(--k)}.d1 .bar{fill-opacity:.75}.d2 .bar{fill-opacity:.5}
.ground{fill:none;stroke:var(--grid)}.cell{fill:var(--heat)}
.key{width:34px;height:12px;vertical-align:-1px}
)";
}

}  // namespace attune::show
