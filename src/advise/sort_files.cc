#include "advise/sort_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "advise/file_roles.h"
#include "base/error.h"
#include "base/text.h"
#include "data/files/data_files.h"
#include "data/files/guess_encoding.h"
#include "data/files/line_reader.h"
#include "data/files/text_file.h"

namespace attune {

namespace {

namespace fs = std::filesystem;
using Pair = std::array<std::string, 2>;

bool is_table_name(const std::string& file) {
  return plain_name(file).ends_with(".tsv") || plain_name(file).ends_with(".csv");
}

bool has_two_columns(const std::string& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  LineReader reader(file, is_utf_16(file) ? Encoding::utf_16 : Encoding::utf_8);  // tabs are the same in all others
  int lines = 0, tabs = 0;
  for (std::string_view line; lines < 100 && reader.next(line);) {
    if (trim(line).empty()) continue;
    ++lines;
    tabs += line.find('\t') != std::string_view::npos;
  }
  return lines > 0 && 10 * tabs >= 9 * lines;
}

void check_names(const std::vector<std::string>& files, const std::string& example, const std::string& order) {
  if (files.empty()) fail(ErrorKind::usage, "no files to learn from\n  fix: attune new {}", example);
  for (const std::string& f : files)
    if (f == "-")
      fail(ErrorKind::usage, "a recipe names files, and the standard input (-) has no name\n  fix: put it into a file");
  for (size_t i = 0; i < files.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      std::error_code ignored;
      if (files[i] != files[j] && !fs::equivalent(files[i], files[j], ignored)) continue;
      fail(ErrorKind::usage, "{} is named twice{}\n  fix: name each file once{}", files[i],
           files[i] == files[j] ? "" : " (" + files[j] + " is the same file)", order);
    }
}

/// The same files, each with its other side behind it; empty when names do not tell.
std::vector<std::string> regrouped(const std::vector<std::string>& files) {
  std::vector<std::string> languages;  // in the order they come
  std::map<Pair, std::string> by_stem;
  for (const std::string& f : files) {
    const std::string language = language_of(f), name = plain_name(f);
    if (language.empty()) return {};
    if (std::find(languages.begin(), languages.end(), language) == languages.end()) languages.push_back(language);
    by_stem[{name.substr(0, name.size() - language.size()), language}] = f;
  }
  if (languages.size() != 2 || by_stem.size() != files.size()) return {};
  std::vector<std::string> order;
  for (const std::string& f : files) {
    if (language_of(f) != languages[0]) continue;
    const std::string name = plain_name(f), stem = name.substr(0, name.size() - languages[0].size());
    const auto other = by_stem.find({stem, languages[1]});
    if (other == by_stem.end()) return {};
    order.insert(order.end(), {shell_word(f), shell_word(other->second)});
  }
  return order.size() == files.size() ? order : std::vector<std::string>{};
}

[[noreturn]] void fail_mixed_up(const Pair& pair, const std::string& why, const std::vector<std::string>& files) {
  const std::vector<std::string> order = regrouped(files);
  fail(ErrorKind::usage, "{} and {} stand together, but {}\n  fix: {}", pair[0], pair[1], why,
       order.empty() ? "name the files as source, target, source, target ..."
                     : "attune new translate " + join(order, " "));
}

FileRole role_or_train(const std::string& file) {
  const FileRole role = role_in_name(file);
  return role == FileRole::unknown ? FileRole::train : role;
}

/// Pairs that names show to be none.
void refuse_mixed_up(const std::vector<Pair>& pairs, const std::vector<std::string>& files) {
  const auto language = [](const std::string& f) { return language_of(f); };
  const std::string source = language(pairs[0][0]), target = language(pairs[0][1]);
  for (const Pair& p : pairs) {
    if (role_or_train(p[0]) != role_or_train(p[1]))
      fail_mixed_up(p, "by their names they are for different things", files);
    const std::string a = language(p[0]), b = language(p[1]);
    if (pairs.size() == 1 || a.empty() || b.empty()) continue;
    if (a == b && !regrouped(files).empty()) fail_mixed_up(p, "both are " + a, files);
    if (a != b && a == target && b == source)
      fail_mixed_up(p, "the pair before has " + source + " first, then " + target, files);
  }
}

/// --valid de en behind train.en train.de, as the names show.
void refuse_swapped(const std::vector<FileGroup>& groups) {
  const auto training = std::find_if(groups.begin(), groups.end(), [](const FileGroup& g) {
    return g.files.size() == 2 &&
           (g.role == FileRole::train || (g.role == FileRole::unknown && role_or_train(g.files[0]) == FileRole::train));
  });
  if (training == groups.end()) return;
  const std::string source = language_of(training->files[0]), target = language_of(training->files[1]);
  for (const FileGroup& g : groups)
    if (g.files.size() == 2 && !source.empty() && source != target && language_of(g.files[0]) == target &&
        language_of(g.files[1]) == source)
      fail(ErrorKind::usage, "{} and {} stand together, but {} and {} have {} first, then {}\n  fix: {} {}", g.files[0],
           g.files[1], training->files[0], training->files[1], source, target, shell_word(g.files[1]),
           shell_word(g.files[0]));
}

/// The lists that recipes have.
SortedFiles sorted_by(std::vector<FileGroup> groups, const std::string& task, size_t together) {
  decide_roles(groups, "attune new " + task, together);
  SortedFiles sorted;
  for (const FileGroup& g : groups) {
    if (g.role == FileRole::about) continue;
    auto& list = g.role == FileRole::train ? sorted.train : g.role == FileRole::valid ? sorted.valid : sorted.test;
    list.insert(list.end(), g.files.begin(), g.files.end());
  }
  sorted.uses = uses_of(groups);
  return sorted;
}

/// Files of data. A README alone may be what somebody wants to learn from.
std::vector<std::string> without_readme(const std::vector<std::string>& files) {
  std::vector<std::string> data;
  for (const std::string& f : files)
    if (!is_about_data(f)) data.push_back(f);
  return data.empty() ? files : data;
}

/// `size` files together; ErrorKind::usage when one is left over.
std::vector<FileGroup> grouped(const std::vector<std::string>& files, const SaidRoles& said, size_t size) {
  std::vector<FileGroup> groups;
  const auto add = [&](const std::vector<std::string>& list, FileRole role, const char* why) {
    if (list.size() % size != 0)
      fail(ErrorKind::usage, "{} file{}: {} has no other side\n  fix: name the files as {}", list.size(),
           list.size() == 1 ? "" : "s", list.back(), "source, target, source, target ...");
    for (size_t i = 0; i < list.size(); i += size)
      groups.push_back(
          {{list.begin() + static_cast<std::ptrdiff_t>(i), list.begin() + static_cast<std::ptrdiff_t>(i + size)},
           role,
           why});
  };
  add(said.train, FileRole::train, "--train says so");
  add(said.valid, FileRole::valid, "--valid says so");
  add(said.test, FileRole::test, "--test says so");
  const std::vector<std::string> data = without_readme(files);
  add(data, FileRole::unknown, "");
  for (const std::string& f : files)
    if (std::count(data.begin(), data.end(), f) == 0) groups.push_back({{f}, FileRole::about});
  return groups;
}

std::vector<std::string> all_of(const std::vector<std::string>& files, const SaidRoles& said) {
  std::vector<std::string> all = files;
  for (const auto* list : {&said.train, &said.valid, &said.test}) all.insert(all.end(), list->begin(), list->end());
  return all;
}

}  // namespace

SortedFiles sort_texts(const std::vector<std::string>& files, Task task, const SaidRoles& said) {
  const char* example = task == Task::tag        ? "tag train.conll"
                        : task == Task::classify ? "classify train.tsv"
                        : task == Task::image    ? "image train-images.gz train-labels.gz"
                        : task == Task::graph    ? "graph nodes.tsv edges.tsv"
                                                 : "language text.txt";
  check_names(all_of(files, said), example, "");
  const std::string_view words(example);
  return sorted_by(grouped(files, said, 1), std::string(words.substr(0, words.find(' '))), reads_rows(task) ? 2 : 1);
}

SortedFiles sort_files(const std::vector<std::string>& files, const SaidRoles& said) {
  const std::vector<std::string> all = all_of(without_readme(files), said);
  check_names(all_of(files, said), "translate train.en train.de", ": source, target, source, target ...");
  if (std::all_of(all.begin(), all.end(), is_table_name) || std::all_of(all.begin(), all.end(), has_two_columns)) {
    SortedFiles sorted = sorted_by(grouped(files, said, 1), "translate", 1);
    sorted.format = plain_name(sorted.train[0]).ends_with(".csv") ? DataFormat::csv : DataFormat::tsv;
    return sorted;
  }
  if (all.size() == 1) {
    TextFile is_there(all[0], true);
    fail(ErrorKind::usage, "{} is one side, or a file without two columns\n  fix: name the other side too: {}", all[0],
         "attune new translate " + shell_word(all[0]) + " OTHER");
  }
  const std::vector<FileGroup> groups = grouped(files, said, 2);
  std::vector<Pair> pairs;
  for (const FileGroup& g : groups)
    if (g.role == FileRole::unknown) pairs.push_back({g.files[0], g.files[1]});
  if (!pairs.empty()) refuse_mixed_up(pairs, files);
  refuse_swapped(groups);
  return sorted_by(groups, "translate", 1);
}

}  // namespace attune
