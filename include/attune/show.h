// What a model looked at, drawn for people: text for a terminal.
//
//   attune::AttentionPicture p{{"die", "Katze"}, {"the", "cat"}, {0.9f, 0.1f, 0.2f, 0.8f}};
//   std::cout << attune::draw_attention(p);
#pragma once
#include <string>
#include <vector>

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

}  // namespace attune
