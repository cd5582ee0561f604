// Which of the files that a person named are for what: training, validation, test; a file a side, or of two columns.
#pragma once
#include <string>
#include <vector>

#include "recipe/settings.h"

namespace attune {

/// Each list as [data] takes it.
struct SortedFiles {
  std::vector<std::string> train, valid, test;
  DataFormat format = DataFormat::lines;
};
/// Goes by names, and looks inside only to tell a file of two columns from others. ErrorKind::usage says how to name
/// them when sides are missing, swapped or mixed up.
SortedFiles sort_files(const std::vector<std::string>& files);
/// The same for texts of one side, or with their labels: each file by itself.
SortedFiles sort_texts(const std::vector<std::string>& files, Task task);

}  // namespace attune
