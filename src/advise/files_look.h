// What is found in files before they are read whole: how their letters are written and their columns are laid out, and
// what of a recipe follows from that.
#pragma once
#include <string>
#include <vector>

#include "advise/columns_look.h"
#include "advise/recipe_sizes.h"
#include "attune/new_recipe.h"

namespace attune {

struct FilesLook {
  ColumnsLook columns;
  /// Takes over what the files are like.
  void apply(const DataSettings& data, SizedRecipe& sized) const;
  /// Puts what was found, and these sentences, behind the first note.
  void tell(const std::vector<std::string>& more, NewRecipe& n) const;
};
/// Fills in encoding, format, delimiter, header and columns of the files that `data` names. `wanted`: --columns.
/// ErrorKind::data when files have no encoding in common that can be read, with what to do.
FilesLook look_into_files(Task task, const std::vector<std::string>& wanted, DataSettings& data);

/// A note for what each file is for, behind the first one.
void tell_files(NewRecipe& n);

}  // namespace attune
