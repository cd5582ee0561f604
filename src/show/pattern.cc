#include "show/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "show/bitmap.h"
#include "show/html.h"

namespace attune::show {

PatternSquares squares_of(const PatternPicture& p, int64_t most) {
  PatternSquares s;
  s.side = std::min(most, p.length);
  s.share.resize(static_cast<size_t>(s.side * s.side));
  const auto from = [&](int64_t square) { return square * p.length / s.side; };
  for (int64_t r = 0; r < s.side; ++r)
    for (int64_t c = 0; c < s.side; ++c) {
      int64_t seen = 0, all = 0;
      for (int64_t i = from(r); i < from(r + 1); ++i)
        for (int64_t j = from(c); j < from(c + 1); ++j, ++all)
          seen += p.sees[static_cast<size_t>(i * p.length + j)] ? 1 : 0;
      s.share[static_cast<size_t>(r * s.side + c)] = static_cast<float>(seen) / static_cast<float>(all);
    }
  return s;
}

std::string draw_pattern_svg(const PatternPicture& p) {
  constexpr int kSquare = 5;
  const PatternSquares s = squares_of(p);
  const int64_t size = kSquare * s.side;
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {0} {0}\" role=\"img\" aria-label=\"who sees whom in {1}\" class=\"heat\">\n"
      "<rect class=\"ground\" width=\"{0}\" height=\"{0}\"/>\n",
      size, escaped(p.mechanism));
  for (int64_t r = 0; r < s.side; ++r)
    for (int64_t c = 0; c < s.side;) {  // squares of one shade that lie side by side are one
      const float share = s.share[static_cast<size_t>(r * s.side + c)];
      int64_t end = c + 1;
      while (end < s.side && s.share[static_cast<size_t>(r * s.side + end)] == share) ++end;
      if (share > 0)
        out +=
            fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"cell\" fill-opacity=\"{:.2f}\"/>\n",
                        c * kSquare, r * kSquare, (end - c) * kSquare, kSquare, 0.25 + 0.75 * share);
      c = end;
    }
  return out + "</svg>\n";
}

std::string draw_pattern_text(const PatternPicture& picture) {
  const PatternSquares s = squares_of(picture);
  const auto seen = [&](int64_t r, int64_t c) {
    return r < s.side && s.share[static_cast<size_t>(r * s.side + c)] > 0;
  };
  std::string out;
  for (int64_t r = 0; r < s.side; r += 2) {  // a letter is twice as high as wide: two rows each
    std::string line;
    for (int64_t c = 0; c < s.side; ++c)
      line += seen(r, c) ? (seen(r + 1, c) ? "█" : "▀") : (seen(r + 1, c) ? "▄" : "·");
    out += line + "\n";
  }
  return out;
}

std::string pattern_png(const PatternPicture& picture) {
  constexpr int kSquare = 8, kEdge = 12;
  const PatternSquares s = squares_of(picture);
  const int side = static_cast<int>(s.side), size = side * kSquare + 2 * kEdge;
  Bitmap b(size, size, {255, 255, 255});
  b.fill(kEdge - 1, kEdge - 1, side * kSquare + 1, side * kSquare + 1, {217, 222, 228});
  for (int r = 0; r < side; ++r)
    for (int c = 0; c < side; ++c) {
      const float share = s.share[static_cast<size_t>(r * side + c)];
      const auto shade = [&](int dark) {
        return static_cast<uint8_t>(share > 0 ? std::lround(200 + (dark - 200) * share) : 255);
      };
      b.fill(kEdge + c * kSquare, kEdge + r * kSquare, kSquare - 1, kSquare - 1, {shade(8), shade(48), shade(107)});
    }
  return b.png();
}

}  // namespace attune::show
