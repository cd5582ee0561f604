// The table of a comparison, of which text, Markdown and HTML are made.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "attune/compare.h"

namespace attune {

struct TableColumn {
  std::string title;                           // "train tok/s"
  std::string meaning;                         // a sentence
  int better = 0;                              // 1: more, -1: less, 0: neither
  std::vector<std::string> cells;              // "" where there is nothing to tell; "~12" was timed on a busy machine
  std::vector<std::optional<double>> numbers;  // of the cells
  /// Whether a cell is as good as any of its column, and another is worse.
  bool is_best(size_t row) const;
};

/// What "~" before a figure means; "" where none has it.
std::string rough_note(const Comparison& comparison);

/// The first column are the names, the last, where there is need for one, remarks.
std::vector<TableColumn> columns_of(const Comparison& comparison);

}  // namespace attune
