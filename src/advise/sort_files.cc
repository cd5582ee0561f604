#include "advise/sort_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "data/files/data_files.h"
#include "data/files/line_reader.h"

namespace attune {

namespace {

namespace fs = std::filesystem;
using Pair = std::array<std::string, 2>;
enum class Role { train, valid, test };

/// "train.en" of "corpus/train.en.gz".
std::string plain_name(const std::string& file) {
  fs::path name = fs::path(file).filename();
  if (name.extension() == ".gz") name.replace_extension();
  return name.string();
}

/// What the name says it is for: one of its parts is valid, dev2010, newstest2014 or the like.
Role role_of(const std::string& file) {
  std::vector<std::string> parts{""};
  for (const char c : plain_name(file)) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalpha(u))
      parts.back() += static_cast<char>(std::tolower(u));
    else if (!std::isdigit(u) && !parts.back().empty())
      parts.emplace_back();
  }
  const auto has = [&](std::initializer_list<const char*> words) {
    return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return std::find(words.begin(), words.end(), part) != words.end();
    });
  };
  if (has({"train", "training"})) return Role::train;
  if (has({"val", "valid", "validation", "dev", "devel", "development", "newsdev"})) return Role::valid;
  // "t10k" is what MNIST and its kin call their test pictures.
  return has({"test", "tst", "newstest"}) || plain_name(file).starts_with("t10k") ? Role::test : Role::train;
}

bool is_tsv_name(const std::string& file) { return plain_name(file).ends_with(".tsv"); }

bool has_two_columns(const std::string& file) {
  LineReader reader(file);
  int lines = 0, tabs = 0;
  for (std::string_view line; lines < 100 && reader.next(line);) {
    if (trim(line).empty()) continue;
    ++lines;
    tabs += line.find('\t') != std::string_view::npos;
  }
  return lines > 0 && 10 * tabs >= 9 * lines;
}

/// As a shell takes it.
std::string word(const std::string& file) { return file.find(' ') == std::string::npos ? file : "'" + file + "'"; }

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
    order.insert(order.end(), {word(f), word(other->second)});
  }
  return order.size() == files.size() ? order : std::vector<std::string>{};
}

[[noreturn]] void fail_mixed_up(const Pair& pair, const std::string& why, const std::vector<std::string>& files) {
  const std::vector<std::string> order = regrouped(files);
  fail(ErrorKind::usage, "{} and {} stand together, but {}\n  fix: {}", pair[0], pair[1], why,
       order.empty() ? "name the files as source, target, source, target ..."
                     : "attune new translate " + join(order, " "));
}

/// Pairs that names show to be none.
void refuse_mixed_up(const std::vector<Pair>& pairs, const std::vector<std::string>& files) {
  const auto language = [](const std::string& f) { return language_of(f); };
  const std::string source = language(pairs[0][0]), target = language(pairs[0][1]);
  for (const Pair& p : pairs) {
    if (role_of(p[0]) != role_of(p[1])) fail_mixed_up(p, "by their names they are for different things", files);
    const std::string a = language(p[0]), b = language(p[1]);
    if (pairs.size() == 1 || a.empty() || b.empty()) continue;
    if (a == b && !regrouped(files).empty()) fail_mixed_up(p, "both are " + a, files);
    if (a != b && a == target && b == source)
      fail_mixed_up(p, "the pair before has " + source + " first, then " + target, files);
  }
}

void add(SortedFiles& sorted, Role role, const std::vector<std::string>& files) {
  auto& list = role == Role::train ? sorted.train : role == Role::valid ? sorted.valid : sorted.test;
  list.insert(list.end(), files.begin(), files.end());
}

/// When no name says train, the first is for training.
template <class Item, class Name>
void sort_by_role(const std::vector<Item>& items, SortedFiles& sorted, Name names) {
  bool any = false;
  for (const Item& i : items) any = any || role_of(names(i)[0]) == Role::train;
  for (size_t i = 0; i < items.size(); ++i)
    add(sorted, !any && i == 0 ? Role::train : role_of(names(items[i])[0]), names(items[i]));
}

SortedFiles sort_single(const std::vector<std::string>& files) {
  SortedFiles sorted;
  sort_by_role(files, sorted, [](const std::string& f) { return std::vector<std::string>{f}; });
  return sorted;
}

}  // namespace

SortedFiles sort_texts(const std::vector<std::string>& files, Task task) {
  check_names(files,
              task == Task::tag        ? "tag train.conll"
              : task == Task::classify ? "classify train.tsv"
              : task == Task::image    ? "image train-images.gz train-labels.gz"
              : task == Task::graph    ? "graph nodes.tsv edges.tsv"
                                       : "language text.txt",
              "");
  return sort_single(files);
}

SortedFiles sort_files(const std::vector<std::string>& files) {
  check_names(files, "translate train.en train.de", ": source, target, source, target ...");
  if (std::all_of(files.begin(), files.end(), is_tsv_name) || (files.size() == 1 && has_two_columns(files[0]))) {
    SortedFiles sorted = sort_single(files);
    sorted.format = DataFormat::tsv;
    return sorted;
  }
  if (files.size() == 1)
    fail(ErrorKind::usage, "{} is one side, or a file without two columns\n  fix: name the other side too: {}",
         files[0], "attune new translate " + word(files[0]) + " OTHER");
  if (files.size() % 2 != 0)
    fail(ErrorKind::usage,
         "{} files: {} has no other side\n  fix: name the files as source, target, source, target ...", files.size(),
         files.back());
  std::vector<Pair> pairs;
  for (size_t i = 0; i < files.size(); i += 2) pairs.push_back({files[i], files[i + 1]});
  refuse_mixed_up(pairs, files);
  SortedFiles sorted;
  sort_by_role(pairs, sorted, [](const Pair& p) { return std::vector<std::string>{p[0], p[1]}; });
  return sorted;
}

}  // namespace attune
