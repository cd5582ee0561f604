#include "data/files/data_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "data/files/text_file.h"

namespace attune {

Sides sides_of(Task task) {
  return task == Task::language ? Sides::one : task == Task::translate ? Sides::two : Sides::answers;
}

std::vector<std::array<std::string, 2>> pair_files(const std::vector<std::string>& files, DataFormat format,
                                                   const std::string& key, Sides sides) {
  std::vector<std::array<std::string, 2>> pairs;
  if (files.empty())
    fail(ErrorKind::recipe, "{} names no files\n  fix: {} = [{}]", key, key,
         sides == Sides::two ? "\"train.en\", \"train.de\"" : "\"train.txt\"");
  if (format != DataFormat::lines || sides == Sides::one) {
    for (const std::string& f : files) pairs.push_back({f, f});
    return pairs;
  }
  if (files.size() % 2 != 0)
    fail(ErrorKind::recipe,
         "{} names {} file{}: {} has no other side\n"
         "  fix: name source, target, source, target ...; or set data.format = \"tsv\" for files of two columns",
         key, files.size(), files.size() == 1 ? "" : "s", files.back());
  for (size_t i = 0; i < files.size(); i += 2) pairs.push_back({files[i], files[i + 1]});
  return pairs;
}

void check_files(const std::string& key, const std::vector<std::string>& files, const std::string& encoding) {
  for (const std::string& f : files) {
    std::error_code ignored;
    const auto status = std::filesystem::status(f, ignored);
    if (f == "-" || (exists(status) && !is_regular_file(status) && !is_directory(status)))
      fail(ErrorKind::data,
           "{}: {} gives its text once, and a run reads it more than once\n  fix: put the text into a file", key, f);
    try {
      TextFile opened(f, encoding == "utf-16");
    } catch (const Error& e) { fail(ErrorKind::data, "{}: {}", key, e.what()); }
  }
}

std::string language_of(const std::string& file) {
  std::filesystem::path path(file);
  if (path.extension() == ".gz") path.replace_extension();
  std::string ending = path.extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  const bool word = std::all_of(ending.begin(), ending.end(),
                                [](unsigned char c) { return std::isalpha(c) || c == '-' || c == '_'; });
  return word && ending.size() >= 2 && ending != "txt" && ending != "tsv" ? ending : "";
}

std::array<std::string, 2> languages_of(const DataSettings& options) {
  const auto& names = options.languages;
  if (!names.empty() && names.size() != 2)
    fail(ErrorKind::recipe, "data.languages has {} names, wanted 2\n  fix: data.languages = [\"en\", \"de\"]",
         names.size());
  if (!names.empty()) return {names[0], names[1]};
  if (options.format == DataFormat::lines && options.train.size() >= 2) {
    const std::string source = language_of(options.train[0]), target = language_of(options.train[1]);
    if (!source.empty() && !target.empty() && source != target) return {source, target};
  }
  return {"source", "target"};
}

}  // namespace attune
