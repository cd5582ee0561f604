#include "text/labels.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"

namespace attune::text {

namespace {

constexpr std::string_view kLabelsFirstLine = "attune labels 1";
constexpr const char* kTrainModelAgain = "\n  fix: copy the file again, or train the model again";

}  // namespace

Labels::Labels(std::vector<std::string> names) : names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) {
    const std::string& n = names_[i];
    if (n.empty() || n.find('\n') != std::string::npos)
      fail(ErrorKind::model, "label {} is {}", i + 1, n.empty() ? "empty" : "more than a line");
    if (!numbers_.emplace(n, static_cast<int32_t>(i)).second) fail(ErrorKind::model, "label \"{}\" comes twice", n);
  }
  hash_ = hash64(body());
}

Labels Labels::of_counts(const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<std::string, int64_t>> all(counts.begin(), counts.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (auto& [name, count] : all) names.push_back(std::move(name));
  return Labels(std::move(names));
}

int32_t Labels::number(std::string_view name) const {
  const auto at = numbers_.find(name);
  return at == numbers_.end() ? kUnseen : at->second;
}

std::string Labels::body() const {
  std::string text = fmt::format("{}\nsize = {}\n", kLabelsFirstLine, names_.size());
  for (const std::string& n : names_) text += n + "\n";
  return text;
}

void Labels::save(const std::string& folder) const {
  std::filesystem::create_directories(folder);
  write_file(folder + "/" + kFile, body() + fmt::format("hash = {:016x}\n", hash_));
}

Labels Labels::load(const std::string& folder) {
  const std::string path = folder + "/" + kFile;
  std::vector<std::string> lines;
  for (const auto& line : split(read_regular_file(path, int64_t{1} << 28), '\n')) lines.emplace_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() < 3 || lines[0] != kLabelsFirstLine)
    fail(ErrorKind::model, "{}:1: this is no list of labels: the first line should be '{}'{}", path, kLabelsFirstLine,
         kTrainModelAgain);
  if (lines[1] != fmt::format("size = {}", lines.size() - 3))
    fail(ErrorKind::model, "{}:2: '{}', but {} labels follow{}", path, lines[1], lines.size() - 3, kTrainModelAgain);
  Labels all(std::vector<std::string>(lines.begin() + 2, lines.end() - 1));
  if (lines.back() != fmt::format("hash = {:016x}", all.hash()))
    fail(ErrorKind::model, "{}:{}: the labels have hash {:016x}: the file was changed{}", path, lines.size(),
         all.hash(), kTrainModelAgain);
  return all;
}

}  // namespace attune::text
