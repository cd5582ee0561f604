#include "advise/files_look.h"

#include <algorithm>

#include "advise/file_roles.h"
#include "base/error.h"
#include "base/text.h"
#include "data/files/guess_encoding.h"

namespace attune {

namespace {

[[noreturn]] void fail_encoding(const std::string& file, const EncodingGuess& guess) {
  if (guess.binary) fail(ErrorKind::data, "{} has zero bytes: this is not a text file\n  fix: name text files", file);
  if (guess.name.empty())
    fail(ErrorKind::data, "{} is not in UTF-8, and its letters make no language that is known here\n  fix: {}", file,
         "find out how it is written, and convert it: " + guess.conversion(shell_word(file)));
  fail(ErrorKind::data, "{} is in {} ({}), which is not read\n  fix: {}", file, guess.name, guess.language,
       guess.conversion(shell_word(file)));
}

/// One encoding serves all files of a recipe.
void find_encoding(DataSettings& d, ColumnsLook& look) {
  std::string first, plain;  // the file that told, and one that did not
  EncodingGuess all;
  std::vector<std::string> files = d.train;
  for (const auto* list : {&d.valid, &d.test}) files.insert(files.end(), list->begin(), list->end());
  for (const std::string& file : files) {
    const EncodingGuess guess = guess_encoding(file);
    if (guess.plain) {
      plain = file;
      continue;
    }
    if (guess.name.empty() || !guess.known) fail_encoding(file, guess);
    if (first.empty()) {
      first = file;
      all = guess;
    } else if (guess.name != all.name) {
      const bool other = guess.name == "utf-8";  // convert the one that is not
      fail(ErrorKind::data, "{} is in {}, and {} in {}: one data.encoding serves all files\n  fix: {}", first, all.name,
           file, guess.name, (other ? all : guess).conversion(shell_word(other ? first : file)));
    }
  }
  if (first.empty() || all.name == "utf-8") return;
  if (all.name == "utf-16" && !plain.empty())  // which has two bytes for every letter
    fail(ErrorKind::data, "{} is in utf-16, and {} is not: one data.encoding serves all files\n  fix: {}", first, plain,
         all.conversion(shell_word(first)));
  d.encoding = all.name;
  look.reasons["data.encoding"] =
      all.language.empty() ? fmt::format("how {} is written, which is not UTF-8", plain_name(first))
                           : fmt::format("not UTF-8: so the letters of {} make {}", plain_name(first), all.language);
  look.notes.push_back(fmt::format("{} is not in UTF-8: data.encoding = \"{}\"{}", first, all.name,
                                   all.language.empty() ? "" : ", in which its letters make " + all.language));
}

}  // namespace

FilesLook look_into_files(Task task, const std::vector<std::string>& wanted, DataSettings& data) {
  ColumnsLook written;
  find_encoding(data, written);
  FilesLook look{describe_columns(data.train[0], task, wanted, data)};
  if (task == Task::classify || task == Task::tag) check_same_columns(data);
  look.columns.reasons.merge(written.reasons);
  look.columns.notes.insert(look.columns.notes.begin(), written.notes.begin(), written.notes.end());
  if (data.header && !look.columns.reasons.contains("data.header"))
    look.columns.reasons["data.header"] = "the first row names the columns";
  if (task == Task::language && data.format != DataFormat::lines)
    look.columns.reasons["data.format"] = "a text in a column of each row";
  return look;
}

void FilesLook::apply(const DataSettings& data, SizedRecipe& sized) const {
  Recipe& r = sized.recipe;
  r.data.format = data.format;
  r.data.columns = data.columns;
  r.data.header = data.header;
  r.data.delimiter = data.delimiter;
  r.data.languages = data.languages;
  r.data.encoding = data.encoding;
  for (const auto& [key, reason] : columns.reasons) sized.reasons[key] = reason;
}

void FilesLook::tell(const std::vector<std::string>& more, NewRecipe& n) const {
  std::vector<std::string> notes = columns.notes;
  notes.insert(notes.end(), more.begin(), more.end());
  const size_t behind = std::min<size_t>(n.notes.size(), 1 + role_sentences(n.files).size());
  n.notes.insert(n.notes.begin() + static_cast<std::ptrdiff_t>(behind), notes.begin(), notes.end());
}

void tell_files(NewRecipe& n) {
  const std::vector<std::string> notes = role_sentences(n.files);
  n.notes.insert(n.notes.begin() + (n.notes.empty() ? 0 : 1), notes.begin(), notes.end());
}

}  // namespace attune
