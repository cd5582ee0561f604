// Files of words and their labels, a word a line: which columns are what, and whether labels are those of spans.
#pragma once
#include "advise/columns_look.h"

namespace attune {

/// describe_columns for the task tag.
ColumnsLook describe_tags(const std::string& file, const std::vector<std::string>& wanted, DataSettings& data);

}  // namespace attune
