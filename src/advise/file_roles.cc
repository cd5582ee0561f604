#include "advise/file_roles.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace attune {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char *kByName = "its name says so", *kByFolder = "its folder says so";

/// Runs of letters, in small ones: "newstest", "en" of "newstest2014-en".
Words words_in_name(const std::string& name) {
  Words words{""};
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalpha(u))
      words.back() += static_cast<char>(std::tolower(u));
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

bool has_any(const Words& words, std::initializer_list<const char*> wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

/// "dev-test", "held_out".
bool has_both(const Words& words, const char* first, const char* second) {
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == first && words[i + 1] == second) return true;
  return false;
}

FileRole role_of_words(const Words& words) {
  if (has_any(words, {"train", "training", "trainset", "traindata", "trn"})) return FileRole::train;
  if (has_any(words, {"devtest", "eval", "evaluation", "heldout", "holdout"}) || has_both(words, "dev", "test") ||
      has_both(words, "held", "out") || has_both(words, "hold", "out"))
    return FileRole::either;
  // "testa" and "testb" are what CoNLL-2002 and CoNLL-2003 call their two, "trial" is SemEval's.
  if (has_any(words, {"val", "valid", "validation", "validset", "valset", "dev", "devel", "development", "devset",
                      "newsdev", "testa", "trial", "tune", "tuning"}))
    return FileRole::valid;
  if (has_any(words, {"test", "tests", "tst", "newstest", "testset", "testdata", "testb", "testc"}))
    return FileRole::test;
  return FileRole::unknown;
}

FileRole role_in_folder(const std::string& file) {
  return role_of_words(words_in_name(fs::path(file).parent_path().filename().string()));
}

bool in_several_folders(const std::vector<FileGroup>& groups) {
  std::set<std::string> folders;
  for (const FileGroup& g : groups) folders.insert(fs::path(g.files[0]).parent_path().string());
  return folders.size() > 1;
}

bool any_for(const std::vector<FileGroup>& groups, FileRole role) {
  return std::any_of(groups.begin(), groups.end(), [&](const FileGroup& g) { return g.role == role; });
}

/// All that names and folders tell.
void read_names(std::vector<FileGroup>& groups) {
  const bool folders = in_several_folders(groups);
  for (FileGroup& g : groups) {
    if (g.role != FileRole::unknown) continue;
    g.role = role_in_name(g.files[0]);
    g.why = kByName;
    if (g.role != FileRole::unknown || !folders) continue;
    g.role = role_in_folder(g.files[0]);
    g.why = kByFolder;
  }
  // A second set to look at is for the end where there is one for the way.
  const FileRole rest = any_for(groups, FileRole::valid) ? FileRole::test : FileRole::valid;
  for (FileGroup& g : groups)
    if (g.role == FileRole::either) {
      g.role = rest;
      g.why += rest == FileRole::test ? ", and another is for validation" : ", and no other is for validation";
    }
}

const char* role_word(FileRole role) {
  return role == FileRole::train ? "train" : role == FileRole::valid ? "valid" : "test";
}

std::string role_sentence_word(const std::string& role) {
  return role == "train" ? "training" : role == "valid" ? "validation" : role;
}

[[noreturn]] void ask_about(const std::vector<FileGroup>& groups, const std::string& command) {
  Words unknown, understood;
  std::string fix = command;
  const auto count =
      std::count_if(groups.begin(), groups.end(), [](const FileGroup& g) { return g.role == FileRole::unknown; });
  // One that is left is the missing one, by all appearance.
  const FileRole likely = count == 1 && !any_for(groups, FileRole::valid)  ? FileRole::valid
                          : count == 1 && !any_for(groups, FileRole::test) ? FileRole::test
                                                                           : FileRole::train;
  for (const FileRole role : {FileRole::train, FileRole::valid, FileRole::test}) {
    bool begun = false;
    for (const FileGroup& g : groups) {
      if (role != (g.role == FileRole::unknown ? likely : g.role)) continue;
      if (!std::exchange(begun, true)) fix += std::string(" --") + role_word(role);
      for (const std::string& f : g.files) fix += " " + shell_word(f);
    }
  }
  for (const FileGroup& g : groups)
    for (const std::string& f : g.files)
      if (g.role == FileRole::unknown)
        unknown.push_back(f);
      else if (g.role != FileRole::about)
        understood.push_back(f + " for " + role_sentence_word(role_word(g.role)));
  const bool one = unknown.size() == 1;
  fail(ErrorKind::usage, "{}: what {} for? {} not tell; the others: {}\n  fix: {}", join(unknown, ", "),
       one ? "is it" : "are they", one ? "Its name does" : "Their names do", join(understood, ", "), fix);
}

}  // namespace

std::string plain_name(const std::string& file) {
  fs::path name = fs::path(file).filename();
  if (name.extension() == ".gz") name.replace_extension();
  return name.string();
}

bool is_about_data(const std::string& file) {
  const Words first{words_in_name(plain_name(file))[0]};
  return has_any(first, {"readme", "license", "licence", "copying", "changelog", "about"}) ||
         plain_name(file).ends_with(".md");
}

std::string shell_word(const std::string& file) {
  return file.find(' ') == std::string::npos ? file : "'" + file + "'";
}

FileRole role_in_name(const std::string& file) {
  const std::string name = plain_name(file);
  if (name.starts_with("t10k")) return FileRole::test;  // as MNIST and its kin call their test pictures
  return role_of_words(words_in_name(name));
}

void decide_roles(std::vector<FileGroup>& groups, const std::string& command, size_t together) {
  const bool said = std::any_of(groups.begin(), groups.end(), [](const FileGroup& g) { return !g.why.empty(); });
  read_names(groups);
  size_t unknown = 0, known = 0;
  for (const FileGroup& g : groups) {
    unknown += g.role == FileRole::unknown;
    known += g.role != FileRole::unknown && g.role != FileRole::about;
  }
  const bool train = any_for(groups, FileRole::train);
  const bool both = any_for(groups, FileRole::valid) && any_for(groups, FileRole::test);
  if (unknown > 0 && known > 0 && (train || (unknown > together && !both))) ask_about(groups, command);
  for (FileGroup& g : groups)
    if (g.role == FileRole::unknown) {
      g.role = FileRole::train;
      g.why = known > 0            ? "no other is for training"
              : unknown > together ? "no name tells anything else"
                                   : "there is no other";
    }
  if (any_for(groups, FileRole::train)) return;
  if (said) fail(ErrorKind::usage, "no file is for training\n  fix: name some by --train FILE...");
  FileGroup& first =
      *std::find_if(groups.begin(), groups.end(), [](const FileGroup& g) { return g.role != FileRole::about; });
  first.role = FileRole::train;
  first.why = "no name says training: the first serves for it";
}

std::vector<FileUse> uses_of(const std::vector<FileGroup>& groups) {
  std::vector<FileUse> uses;
  for (const FileGroup& g : groups)
    for (const std::string& f : g.files)
      uses.push_back({f, g.role == FileRole::about ? "ignored" : role_word(g.role),
                      g.role == FileRole::about ? "its name says it is about the data" : g.why});
  return uses;
}

std::vector<std::string> role_sentences(const std::vector<FileUse>& files) {
  std::vector<std::string> sentences;
  std::vector<bool> told(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    if (told[i]) continue;
    Words same;
    for (size_t j = i; j < files.size(); ++j)
      if (files[j].role == files[i].role && files[j].why == files[i].why) {
        told[j] = true;
        same.push_back(files[j].file);
      }
    constexpr size_t kShown = 8;
    const size_t more = same.size() > kShown ? same.size() - kShown : 0;
    std::string why = files[i].why;
    for (const auto& [one, several] :
         {std::pair{"its name says", "their names say"}, {"its folder says", "their folders say"}})
      if (same.size() > 1 && why.starts_with(one)) why = several + why.substr(std::string_view(one).size());
    same.resize(same.size() - more);
    sentences.push_back(fmt::format("{}{}: {} ({})", join(same, ", "), more ? fmt::format(" and {} more", more) : "",
                                    role_sentence_word(files[i].role), why));
  }
  return sentences;
}

}  // namespace attune
