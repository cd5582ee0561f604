// How files of columns are laid out: what separates columns, whether the first row names them, which are what.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "recipe/settings.h"

namespace attune {

/// What was found beside the settings themselves.
struct ColumnsLook {
  bool compared = false;                            // two texts to a label, that are to be compared
  bool numbers = false;                             // the answers are numbers
  bool spans = false;                               // tag: labels are those of spans (B-PER I-PER O)
  std::map<std::string, std::string> reasons = {};  // by key: why data.columns, for example, is what it is
  std::vector<std::string> notes = {};              // a sentence each
};

/// Looks into the first rows of a file and fills in format, delimiter, header and columns; `wanted`: columns that were
/// said (--columns), none: the header decides or, without one, what stands in them. ErrorKind::usage or data when it
/// can't be told, with the columns there are. Files of lines (translate, language) that are no tables stay so.
ColumnsLook describe_columns(const std::string& file, Task task, const std::vector<std::string>& wanted,
                             DataSettings& data);

/// ErrorKind::data unless the first rows of all files have as many columns.
void check_same_columns(const DataSettings& data);

}  // namespace attune
