// What a model looked at, drawn for people: text for a terminal, pictures, a page; and as JSON for programs.
//
//   attune::AttentionPicture p{{"die", "Katze"}, {"the", "cat"}, {0.9f, 0.1f, 0.2f, 0.8f}};
//   std::cout << attune::draw_attention(p);
//   const auto look = attune::look_at("model-dir", "A dog runs.", {.each = true});
//   std::ofstream("look.html") << attune::look_page(look);
#pragma once
#include <string>
#include <vector>

#include "attune/look.h"

namespace attune {

/// Who looked at whom: a row sums to one.
struct AttentionPicture {
  std::vector<std::string> rows;     // what was written
  std::vector<std::string> columns;  // what was looked at
  std::vector<float> weights;        // [rows, columns]
};

struct DrawOptions {
  bool colour = false;   // backgrounds in 256 colours; otherwise shades: ░▒▓█
  bool numbers = false;  // percentages in the cells
  bool legend = true;    // a last line that explains the shades
  int width = 80;        // of the terminal; what is wider is drawn in several panels
};

/// The picture, lines with their ends; "" when there are no rows or no columns. Labels may hold any bytes: what could
/// disturb a terminal is replaced. ErrorKind::usage when the weights do not fit the labels.
std::string draw_attention(const AttentionPicture& picture, const DrawOptions& options = {});

/// For each row the column with the largest weight, as Pharaoh writes it, counted from 0: "0-0 1-2" says that column 0
/// (source) belongs to row 0 (target), and column 1 to row 2.
std::string alignment(const AttentionPicture& picture);

/// So many rows and columns of a look are drawn at most, the first ones; JSON has all of them.
inline constexpr size_t kMostDrawn = 80;

/// One object in one line, the body of `attune look --json`: task, source and target (pieces, also as columns and
/// rows), layer, head and weights of the one that stands out, sites (every head that was asked for: site, layer, head,
/// weights), text and alignment. A weight has six digits behind the point.
std::string look_json(const AttentionLook& look);

/// Pictures of all heads in AttentionLook::each; `large`: of the one map that its layer and head name. PNG has letters
/// for Latin script alone: other names become their numbers, and numbered_in_png tells which, of rows and of columns:
/// "3 日本  4 語".
std::string look_png(const AttentionLook& look, bool large);
std::string look_svg(const AttentionLook& look, bool large);
std::vector<std::string> numbered_in_png(const AttentionLook& look);

/// One page that needs nothing else: one map large, every head to choose from, what each piece looks at, and which word
/// belongs to which. Scripts make it answer to pointers; without them it can still be read.
std::string look_page(const AttentionLook& look);

/// Writes drawings to files; "": not that one. ErrorKind::io where one can't be written.
struct LookFiles {
  std::string png = {}, svg = {}, html = {};
  bool large = false;
};
void write_look(const AttentionLook& look, const LookFiles& files);

}  // namespace attune
