// The maps of a look on a plane: one large, or every head small, side by side. The plan is made once; pens draw it, as
// SVG (svg_maps.cc) and as PNG (png_maps.cc).
#pragma once
#include <string>
#include <vector>

#include "attune/look.h"

namespace attune::show {

/// The first so many rows and columns of it, and the words and pairs as they are.
AttentionLook clipped(const AttentionLook& look, size_t most);

/// "layer 1, head 3" and, of the one that stands out, "layer 1, mean of 8 heads".
std::string title_of(const AttentionHead& head);
std::string title_of(const AttentionLook& look);
/// "The translation looks at its source", of which layers, and what is not drawn.
std::string heading_of(const AttentionLook& look);
std::string remarks_of(const AttentionLook& look);

/// How dark a weight is drawn, 0 to 1. The root brings small weights out, as the shades of a terminal do.
float darkness(float weight);

enum class Anchor { begin, middle, end, upward };  // upward: begins there, read from below

/// One map: `weights` are [rows, columns] of the look.
struct PlacedMap {
  std::string title;
  const std::vector<float>* weights = nullptr;
  double x = 0, y = 0;  // of its first cell
  bool first = false;   // of its line: the names of the rows stand beside it
};

class Pen {
 public:
  virtual ~Pen() = default;
  virtual double letter() const = 0;  // the width of a letter, about
  virtual double line() const = 0;    // the height of a line
  /// What it can write of a name that is the so-manieth of its side, from 1.
  virtual std::string name(const std::string& text, size_t number) const = 0;
  virtual int letters_of(const std::string& text) const = 0;
  /// Headlines and a legend too; not where a page has them.
  virtual bool captions() const { return true; }

  virtual void begin(double width, double height) = 0;
  /// `y`: of the line its small letters stand on. `strong`: a headline.
  virtual void write(double x, double y, Anchor anchor, const std::string& text, bool strong = false) = 0;
  virtual void draw(const PlacedMap& map, const AttentionLook& look, double cell) = 0;
  virtual void shade(double x, double y, double size, float weight) = 0;
};

void draw_maps(const AttentionLook& look, bool large, Pen& pen);

}  // namespace attune::show
