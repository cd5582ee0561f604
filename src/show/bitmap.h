// A picture of points with letters of our own, five points wide: for PNG files, which have no fonts. Latin letters with
// their accents, digits and signs; whoever needs other scripts writes SVG.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune::show {

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
};

enum class Reading { across, upward };

class Bitmap {
 public:
  Bitmap(int width, int height, Colour ground);

  /// What lies outside of the picture is left out.
  void fill(int x, int y, int width, int height, Colour colour);
  /// From (x, y), the left or, upward, the lower end of the line its small letters stand on.
  void write(int x, int y, std::string_view text, Reading reading = Reading::across);

  std::string png() const;

 private:
  int width_, height_;
  std::vector<uint8_t> rgb_;
};

/// Whether all of it has a shape here.
bool can_write(std::string_view text);
/// Points from the begin of a letter to that of the next, and from a line to the next.
inline constexpr int kBitmapLetter = 12, kBitmapLine = 22;
/// How many letters wide it is.
int bitmap_letters(std::string_view text);

}  // namespace attune::show
