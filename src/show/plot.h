// Plots as SVG for a page of their own: lines, bars and heat maps. No scripts; colours come from plot_style(), which
// knows light and dark, and are told apart by people who see few of them: dashes and markers differ too.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attune/show.h"

namespace attune::show {

struct Series {
  std::string name;
  int style = 0;  // the same in every plot: colour, dashes, marker
  std::vector<std::pair<double, double>> points;
};

struct LinePlot {
  std::string title;  // for people who hear the page
  std::string x_name, y_name;
  bool log_x = false, log_y = false;
  std::vector<double> x_ticks = {};  // whole numbers; {}: chosen
  std::vector<Series> series = {};
  bool end_labels = true;  // names where the lines end, unless there are very many
  double width = 540;      // letters are 12 high: what a page makes smaller becomes hard to read
};
/// "" when there is nothing to draw. What is no finite number, or not positive on a logarithmic axis, is left out.
std::string draw_lines(const LinePlot& plot);

struct Bar {
  std::string name;
  int style = 0;
  double value = 0;
  std::string mark = {};  // before its figure: "~"
};
/// Bars from left to right, one below another, with their figures behind them; "" when there are none.
std::string draw_bars(const std::string& title, const std::vector<Bar>& bars, double width = 540);

/// Who looked at whom, in ten shades.
std::string draw_heat_map(const std::string& title, const AttentionPicture& picture);

/// A short piece of a series' line with its marker, for keys.
std::string draw_key(int style);

/// CSS that the plots need.
std::string plot_style();

}  // namespace attune::show
