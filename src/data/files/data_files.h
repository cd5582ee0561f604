// Which files a corpus is made of, as the section [data] of a recipe names them.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "recipe/settings.h"

namespace attune {

/// What an example has: a target alone, as language models learn from; a source and a target; a text, or two, and the
/// answer to it.
enum class Sides { one, two, answers };
inline bool has_source(Sides sides) { return sides != Sides::one; }
Sides sides_of(Task task);

/// Source and target of each pair of files; the same name twice for a file of columns and where there is one side.
/// ErrorKind::recipe when a side is missing; `key` is what the recipe calls the list ("data.train").
std::vector<std::array<std::string, 2>> pair_files(const std::vector<std::string>& files, DataFormat format,
                                                   const std::string& key, Sides sides = Sides::two);

/// Throws ErrorKind::data, naming key and file, unless a run can read all these files, and again after a stop: a pipe
/// or a device gives its text only once.
void check_files(const std::string& key, const std::vector<std::string>& files, const std::string& encoding);

/// "de" of "corpus/train.de.gz"; "" when the ending does not look like the name of a language.
std::string language_of(const std::string& file);

/// What the two sides are called: `languages`, else the endings of the first two files of train ("en", "de").
std::array<std::string, 2> languages_of(const DataSettings& options);

}  // namespace attune
