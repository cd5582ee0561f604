#include "show/bitmap.h"

#include <algorithm>
#include <array>

#include "show/png.h"
#include "text/letters.h"
#include "text/utf8.h"

namespace attune::show {

namespace {

constexpr int kPoint = 2;  // a point of a letter is so many points of the picture wide
constexpr int kRows = 7;   // of a letter, the last of them on the line
constexpr int kLeft = 16;  // the bit of a row's leftmost point

/// Rows from the top. Letters with a tail hang so many rows lower.
struct Glyph {
  char32_t code;
  std::array<uint8_t, kRows> rows;
  int lower = 0;
};

constexpr Glyph kGlyphs[] = {
    {' ', {}},
    {'!', {4, 4, 4, 4, 4, 0, 4}},
    {'"', {10, 10, 10}},
    {'#', {10, 10, 31, 10, 31, 10, 10}},
    {'$', {4, 15, 20, 14, 5, 30, 4}},
    {'%', {25, 25, 2, 4, 8, 19, 19}},
    {'&', {12, 18, 20, 8, 21, 18, 13}},
    {'\'', {4, 4, 4}},
    {'(', {2, 4, 8, 8, 8, 4, 2}},
    {')', {8, 4, 2, 2, 2, 4, 8}},
    {'*', {0, 21, 14, 31, 14, 21}},
    {'+', {0, 4, 4, 31, 4, 4}},
    {',', {0, 0, 0, 0, 4, 4, 8}, 1},
    {'-', {0, 0, 0, 14}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},
    {'/', {1, 1, 2, 4, 8, 16, 16}},
    {'0', {14, 17, 17, 21, 17, 17, 14}},
    {'1', {4, 12, 20, 4, 4, 4, 31}},
    {'2', {14, 17, 1, 6, 8, 16, 31}},
    {'3', {30, 1, 1, 14, 1, 1, 30}},
    {'4', {17, 17, 17, 31, 1, 1, 1}},
    {'5', {31, 16, 30, 1, 1, 1, 30}},
    {'6', {14, 16, 16, 30, 17, 17, 14}},
    {'7', {31, 1, 2, 2, 4, 4, 4}},
    {'8', {14, 17, 17, 14, 17, 17, 14}},
    {'9', {14, 17, 17, 15, 1, 1, 14}},
    {':', {0, 0, 12, 12, 0, 12, 12}},
    {';', {0, 12, 12, 0, 4, 4, 8}, 1},
    {'<', {0, 2, 4, 8, 4, 2}},
    {'=', {0, 0, 31, 0, 31}},
    {'>', {0, 8, 4, 2, 4, 8}},
    {'?', {14, 17, 1, 6, 4, 0, 4}},
    {'@', {14, 17, 23, 21, 23, 16, 15}},
    {'A', {4, 10, 17, 17, 31, 17, 17}},
    {'B', {30, 17, 17, 30, 17, 17, 30}},
    {'C', {15, 16, 16, 16, 16, 16, 15}},
    {'D', {30, 17, 17, 17, 17, 17, 30}},
    {'E', {31, 16, 16, 30, 16, 16, 31}},
    {'F', {31, 16, 16, 30, 16, 16, 16}},
    {'G', {15, 16, 16, 19, 17, 17, 15}},
    {'H', {17, 17, 17, 31, 17, 17, 17}},
    {'I', {14, 4, 4, 4, 4, 4, 14}},
    {'J', {15, 2, 2, 2, 2, 18, 12}},
    {'K', {17, 18, 20, 24, 20, 18, 17}},
    {'L', {16, 16, 16, 16, 16, 16, 31}},
    {'M', {17, 27, 21, 21, 17, 17, 17}},
    {'N', {17, 25, 25, 21, 19, 19, 17}},
    {'O', {14, 17, 17, 17, 17, 17, 14}},
    {'P', {30, 17, 17, 30, 16, 16, 16}},
    {'Q', {14, 17, 17, 17, 21, 18, 13}},
    {'R', {30, 17, 17, 30, 20, 18, 17}},
    {'S', {15, 16, 16, 14, 1, 1, 30}},
    {'T', {31, 4, 4, 4, 4, 4, 4}},
    {'U', {17, 17, 17, 17, 17, 17, 14}},
    {'V', {17, 17, 17, 17, 10, 10, 4}},
    {'W', {17, 17, 17, 21, 21, 27, 17}},
    {'X', {17, 17, 10, 4, 10, 17, 17}},
    {'Y', {17, 17, 10, 10, 4, 4, 4}},
    {'Z', {31, 1, 2, 4, 8, 16, 31}},
    {'[', {14, 8, 8, 8, 8, 8, 14}},
    {'\\', {16, 16, 8, 4, 2, 1, 1}},
    {']', {14, 2, 2, 2, 2, 2, 14}},
    {'^', {4, 10, 17}},
    {'_', {0, 0, 0, 0, 0, 0, 31}},
    {'`', {8, 4}},
    {'a', {0, 0, 14, 1, 15, 17, 15}},
    {'b', {16, 16, 30, 17, 17, 17, 30}},
    {'c', {0, 0, 15, 16, 16, 16, 15}},
    {'d', {1, 1, 15, 17, 17, 17, 15}},
    {'e', {0, 0, 14, 17, 31, 16, 15}},
    {'f', {6, 8, 28, 8, 8, 8, 8}},
    {'g', {15, 17, 17, 17, 15, 1, 14}, 2},
    {'h', {16, 16, 30, 17, 17, 17, 17}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},
    {'j', {2, 0, 6, 2, 2, 2, 12}, 1},
    {'k', {16, 16, 18, 20, 24, 20, 18}},
    {'l', {12, 4, 4, 4, 4, 4, 6}},
    {'m', {0, 0, 26, 21, 21, 21, 21}},
    {'n', {0, 0, 30, 17, 17, 17, 17}},
    {'o', {0, 0, 14, 17, 17, 17, 14}},
    {'p', {30, 17, 17, 17, 30, 16, 16}, 2},
    {'q', {15, 17, 17, 17, 15, 1, 1}, 2},
    {'r', {0, 0, 22, 24, 16, 16, 16}},
    {'s', {0, 0, 15, 16, 14, 1, 30}},
    {'t', {8, 8, 28, 8, 8, 8, 6}},
    {'u', {0, 0, 17, 17, 17, 17, 15}},
    {'v', {0, 0, 17, 17, 10, 10, 4}},
    {'w', {0, 0, 17, 17, 21, 21, 10}},
    {'x', {0, 0, 17, 10, 4, 10, 17}},
    {'y', {17, 17, 17, 17, 15, 1, 14}, 2},
    {'z', {0, 0, 31, 2, 4, 8, 31}},
    {'{', {2, 4, 4, 8, 4, 4, 2}},
    {'|', {4, 4, 4, 4, 4, 4, 4}},
    {'}', {8, 4, 4, 2, 4, 4, 8}},
    {'~', {0, 0, 0, 13, 22}},
    {U'ß', {12, 18, 18, 20, 18, 17, 22}},
    {U'æ', {0, 0, 26, 5, 15, 20, 15}},
    {U'œ', {0, 0, 10, 21, 23, 20, 11}},
    {U'ø', {0, 1, 14, 19, 21, 25, 14}},
    {U'ł', {12, 4, 6, 12, 4, 4, 6}},
    {U'Ł', {8, 8, 10, 12, 24, 8, 15}},
    {U'ı', {0, 0, 12, 4, 4, 4, 14}},
    {U'…', {0, 0, 0, 0, 0, 0, 21}},
    {U'▁', {0, 0, 0, 0, 0, 0, 31}},
    {U'·', {0, 0, 0, 12, 12}},
    {U'’', {4, 4, 8}},
    {U'‘', {2, 4, 4}},
    {U'“', {5, 10, 10}},
    {U'”', {10, 10, 20}},
    {U'–', {0, 0, 0, 31}},
    {U'—', {0, 0, 0, 31}},
    {U'«', {0, 0, 5, 10, 5}},
    {U'»', {0, 0, 20, 10, 20}},
    {U'¿', {4, 0, 4, 12, 16, 17, 14}},
    {U'¡', {4, 0, 4, 4, 4, 4, 4}},
    {U'€', {7, 8, 30, 8, 30, 8, 7}},
};

/// Marks over a letter, two rows, and below it.
struct Accent {
  char32_t code;
  std::array<uint8_t, 2> rows;
  bool below = false;
};
constexpr Accent kAccents[] = {
    {0x300, {8, 4}},   {0x301, {2, 4}},       {0x302, {4, 10}},      {0x303, {13, 22}},      {0x304, {0, 14}},
    {0x306, {17, 14}}, {0x307, {4, 0}},       {0x308, {10, 0}},      {0x30a, {14, 10}},      {0x30b, {5, 10}},
    {0x30c, {10, 4}},  {0x323, {0, 4}, true}, {0x326, {4, 8}, true}, {0x327, {4, 12}, true}, {0x328, {4, 6}, true},
};

const Glyph* glyph_of(char32_t code) {
  const auto found =
      std::find_if(std::begin(kGlyphs), std::end(kGlyphs), [&](const Glyph& g) { return g.code == code; });
  return found == std::end(kGlyphs) ? nullptr : found;
}
const Accent* accent_of(char32_t code) {
  const auto found =
      std::find_if(std::begin(kAccents), std::end(kAccents), [&](const Accent& a) { return a.code == code; });
  return found == std::end(kAccents) ? nullptr : found;
}

/// Characters, letters and their accents apart where they have no shape together.
std::vector<char32_t> strokes(std::string_view text) {
  std::vector<char32_t> out;
  for (const text::Character c : text::Characters(text)) {
    if (glyph_of(c.code))
      out.push_back(c.code);
    else
      for (const char32_t part : text::decomposed(c.code)) out.push_back(part);
  }
  return out;
}

}  // namespace

bool can_write(std::string_view text) {
  const std::vector<char32_t> all = strokes(text);
  return std::all_of(all.begin(), all.end(), [](char32_t c) { return glyph_of(c) || accent_of(c); });
}

int bitmap_letters(std::string_view text) {
  const std::vector<char32_t> all = strokes(text);
  return static_cast<int>(std::count_if(all.begin(), all.end(), [](char32_t c) { return !accent_of(c); }));
}

Bitmap::Bitmap(int width, int height, Colour ground) : width_(width), height_(height) {
  rgb_.resize(static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
  fill(0, 0, width, height, ground);
}

void Bitmap::fill(int x, int y, int width, int height, Colour colour) {
  for (int j = std::max(y, 0); j < std::min(y + height, height_); ++j)
    for (int i = std::max(x, 0); i < std::min(x + width, width_); ++i) {
      uint8_t* to = &rgb_[3 * (static_cast<size_t>(j) * static_cast<size_t>(width_) + static_cast<size_t>(i))];
      to[0] = colour.red, to[1] = colour.green, to[2] = colour.blue;
    }
}

void Bitmap::write(int x, int y, std::string_view text, Reading reading) {
  int at = -kBitmapLetter;
  bool tall = false;
  // A row of points, so many rows below the top of a capital.
  const auto row = [&](uint8_t points, int below_top) {
    for (int i = 0; i < 5; ++i) {
      if (!(points & (kLeft >> i))) continue;
      const int along = at + kPoint * i, down = kPoint * (below_top - kRows);
      if (reading == Reading::across)
        fill(x + along, y + down, kPoint, kPoint, {27, 31, 36});
      else
        fill(x + down, y - along - kPoint, kPoint, kPoint, {27, 31, 36});
    }
  };
  for (const char32_t code : strokes(text)) {
    if (const Accent* a = accent_of(code)) {
      const int first = a->below ? kRows : tall ? -3 : 0;
      for (int r = 0; r < 2; ++r) row(a->rows[static_cast<size_t>(r)], first + r);
      continue;
    }
    at += kBitmapLetter;
    const Glyph* g = glyph_of(code);
    if (!g) continue;
    tall = g->lower == 0 && (g->rows[0] | g->rows[1]) && code != 'i';
    for (int r = 0; r < kRows; ++r) row(g->rows[static_cast<size_t>(r)], g->lower + r);
  }
}

std::string Bitmap::png() const { return png_of(width_, height_, rgb_); }

}  // namespace attune::show
