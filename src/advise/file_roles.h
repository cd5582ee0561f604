// What files are for, as their names and folders tell it: training, validation, test.
#pragma once
#include <string>
#include <vector>

#include "attune/new_recipe.h"

namespace attune {

/// `either`: "eval" or "devtest", for validation or for test; `about`: a README or a licence.
enum class FileRole { unknown, train, valid, test, either, about };

/// Files that go together (one, or a source and its target) and what they are for.
struct FileGroup {
  std::vector<std::string> files;
  FileRole role = FileRole::unknown;
  std::string why = {};
};

/// "train.en" of "corpus/train.en.gz".
std::string plain_name(const std::string& file);
/// By the words in the file's own name: train, dev2010, esp.testb, newstest2014 ...
FileRole role_in_name(const std::string& file);

/// A README or the like.
bool is_about_data(const std::string& file);

/// Decides what groups without a role are for: by name, then by folder. What tells nothing is for training where all
/// else is for something else, and where nothing tells anything; otherwise ErrorKind::usage asks, with `command`
/// ("attune new tag") and all roles to say. `together`: so many groups without a name count as one (pictures and their
/// labels).
void decide_roles(std::vector<FileGroup>& groups, const std::string& command, size_t together = 1);

/// "esp.testa: validation (its name says so)", a sentence for all files of the same fate.
std::vector<std::string> role_sentences(const std::vector<FileUse>& files);
/// Of decided groups.
std::vector<FileUse> uses_of(const std::vector<FileGroup>& groups);
/// A file's name as a shell takes it.
std::string shell_word(const std::string& file);

}  // namespace attune
