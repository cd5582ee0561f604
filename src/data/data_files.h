// Which files a corpus of two sides is made of, as the section [data] of a recipe names them.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "recipe/settings.h"

namespace attune {

/// Source and target of each pair of files; the same name twice for a tsv. ErrorKind::recipe when a side is missing;
/// `key` is what the recipe calls the list ("data.train").
std::vector<std::array<std::string, 2>> pair_files(const std::vector<std::string>& files, DataFormat format,
                                                   const std::string& key);

/// "de" of "corpus/train.de.gz"; "" when the ending does not look like the name of a language.
std::string language_of(const std::string& file);

/// What the two sides are called: `languages`, else the endings of the first two files of train ("en", "de").
std::array<std::string, 2> languages_of(const DataSettings& options);

}  // namespace attune
