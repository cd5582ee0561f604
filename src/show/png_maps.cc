// The maps of a look as PNG.
#include <algorithm>
#include <cmath>
#include <optional>

#include "attune/show.h"
#include "show/bitmap.h"
#include "show/maps.h"
#include "text/width.h"

namespace attune {

namespace show {

namespace {

constexpr int kLongestPngName = 14;
constexpr Colour kPngGround{255, 255, 255}, kPngEdge{217, 222, 228};

/// From white to the darkest of attention_png.
Colour shade_of(float weight) {
  const auto towards = [&](float dark) {
    return static_cast<uint8_t>(std::lround(255 + (dark - 255) * darkness(weight)));
  };
  return {towards(8), towards(48), towards(107)};
}

std::string png_name(const std::string& text, size_t number) {
  const std::string name = text::shortened(text::harmless(text), kLongestPngName);
  return can_write(name) ? name : std::to_string(number);
}

class PngPen : public Pen {
 public:
  double letter() const override { return kBitmapLetter; }
  double line() const override { return kBitmapLine; }
  std::string name(const std::string& text, size_t number) const override { return png_name(text, number); }
  int letters_of(const std::string& text) const override { return bitmap_letters(text); }

  void begin(double width, double height) override {
    picture_.emplace(static_cast<int>(width), static_cast<int>(height), kPngGround);
  }
  void write(double x, double y, Anchor anchor, const std::string& text, bool strong) override {
    const int long_ = kBitmapLetter * bitmap_letters(text);
    const int from = static_cast<int>(x) - (anchor == Anchor::end ? long_ : anchor == Anchor::middle ? long_ / 2 : 0);
    const Reading reading = anchor == Anchor::upward ? Reading::upward : Reading::across;
    picture_->write(from, static_cast<int>(y), text, reading);
    if (strong) picture_->write(from + 1, static_cast<int>(y), text, reading);
  }
  void draw(const PlacedMap& map, const AttentionLook& look, double cell) override {
    const int size = static_cast<int>(cell), x = static_cast<int>(map.x), y = static_cast<int>(map.y);
    const int rows = static_cast<int>(look.rows.size()), columns = static_cast<int>(look.columns.size());
    picture_->fill(x - 1, y - 1, size * columns + 2, size * rows + 2, kPngEdge);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        picture_->fill(x + size * c, y + size * r, size, size,
                       shade_of((*map.weights)[static_cast<size_t>(r * columns + c)]));
  }
  void shade(double x, double y, double size, float weight) override {
    const int side = static_cast<int>(size);
    picture_->fill(static_cast<int>(x) - 1, static_cast<int>(y) - 1, side + 2, side + 2, kPngEdge);
    picture_->fill(static_cast<int>(x), static_cast<int>(y), side, side, shade_of(weight));
  }
  std::string png() const { return picture_->png(); }

 private:
  std::optional<Bitmap> picture_;
};

}  // namespace

}  // namespace show

std::string look_png(const AttentionLook& look, bool large) {
  show::PngPen pen;
  show::draw_maps(show::clipped(look, kMostDrawn), large, pen);
  return pen.png();
}

std::vector<std::string> numbered_in_png(const AttentionLook& look) {
  std::vector<std::string> out;
  for (const auto* side : {&look.rows, &look.columns}) {
    std::string line;
    for (size_t i = 0; i < std::min(side->size(), kMostDrawn); ++i)
      if (show::png_name((*side)[i], i + 1) == std::to_string(i + 1) && (*side)[i] != std::to_string(i + 1))
        line += (line.empty() ? "" : "  ") + std::to_string(i + 1) + " " + text::harmless((*side)[i]);
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace attune
