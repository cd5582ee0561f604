// What the names of columns in a header say: which is the text, which the label, which a number that means nothing.
#pragma once
#include <string>
#include <vector>

#include "recipe/settings.h"

namespace attune {

/// `score`: a number or a kind, which is the label where no other is. `text` of translate: a language.
enum class ColumnKind { unknown, text, label, score, source, target, id, weight };
/// Small and capital letters, blanks and signs do not matter: "Sentence 1" is a text.
ColumnKind kind_of_column(const std::string& name, Task task);
/// Whether a row may be one of names: short, all different, no numbers; ...
bool may_be_names(const std::vector<std::string>& row);
/// ... and some are known.
bool looks_like_header(const std::vector<std::string>& row, Task task);

/// Columns by their places.
struct ChosenColumns {
  std::vector<size_t> texts;
  int label = -1;  // translate, language: none
  int weight = -1;
  bool compared = false;  // two texts that are to be compared
  bool clear = false;     // the names tell
};
ChosenColumns choose_by_names(const std::vector<std::string>& header, Task task);

}  // namespace attune
