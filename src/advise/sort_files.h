// Which of the files that a person named are for what: training, validation, test; a file a side, or of two columns.
#pragma once
#include <string>
#include <vector>

#include "attune/new_recipe.h"
#include "recipe/settings.h"

namespace attune {

/// Each list as [data] takes it.
struct SortedFiles {
  std::vector<std::string> train, valid, test;
  DataFormat format = DataFormat::lines;
  std::vector<FileUse> uses = {};  // of every file, why
};
/// What files are for, where somebody says it.
struct SaidRoles {
  std::vector<std::string> train, valid, test;
};
/// Goes by what is said and by names, and looks inside only to tell files of two columns from others. ErrorKind::usage
/// says how to name them when sides are missing, swapped or mixed up, or when some names tell and others do not.
SortedFiles sort_files(const std::vector<std::string>& files, const SaidRoles& said = {});
/// The same for texts of one side, or with their labels: each file by itself.
SortedFiles sort_texts(const std::vector<std::string>& files, Task task, const SaidRoles& said = {});

}  // namespace attune
