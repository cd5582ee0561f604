// Which query sees which key, drawn as papers do: down who looks, across what is seen.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attune/mechanisms.h"

namespace attune::show {

/// The picture in so many squares a side at most: each with the share of its pairs that are seen, from 0 to 1.
struct PatternSquares {
  int64_t side = 0;
  std::vector<float> share;  // [side, side]
};
PatternSquares squares_of(const PatternPicture& picture, int64_t most = 64);

/// A letter for two queries and a key, lines with their ends.
std::string draw_pattern_text(const PatternPicture& picture);
std::string pattern_png(const PatternPicture& picture);
/// SVG for a page, with the colours of plot_style().
std::string draw_pattern_svg(const PatternPicture& picture);

}  // namespace attune::show
