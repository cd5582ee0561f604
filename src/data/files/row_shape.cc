#include "data/files/row_shape.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"

namespace attune {

namespace {

constexpr const char* kByColumn = "features = columns\n";

std::string shape_text(const RowShape& s) {
  std::string grid;
  for (const int64_t size : s.grid) grid += fmt::format(" {}", size);
  return fmt::format("attune rows 1\nwidth = {}\ngrid ={}\nlongest = {}\n{}", s.width, grid, s.longest,
                     s.by_column ? kByColumn : "");
}

/// The whole numbers behind "NAME =", each from 1 to 2^31; none when the line is another.
std::optional<std::vector<int64_t>> numbers_behind(const std::string& line, std::string_view name) {
  if (!line.starts_with(name) || !std::string_view(line).substr(name.size()).starts_with(" =")) return std::nullopt;
  std::vector<int64_t> all;
  for (const std::string_view word : words_of(std::string_view(line).substr(name.size() + 2))) {
    int64_t x = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
    if (error != std::errc{} || end != word.data() + word.size() || x < 1 || x > INT32_MAX) return std::nullopt;
    all.push_back(x);
  }
  return all;
}

}  // namespace

void RowShape::cover(const RowShape& other) {
  for (size_t i = 0; i < grid.size(); ++i) grid[i] = std::max(grid[i], other.grid[i]);
  longest = std::max(longest, other.longest);
}

uint64_t RowShape::hash() const { return hash64(shape_text(*this)); }

void RowShape::save(const std::string& folder) const {
  std::filesystem::create_directories(folder);
  write_file(folder + "/" + kFile, shape_text(*this) + fmt::format("hash = {:016x}\n", hash()));
}

RowShape RowShape::load(const std::string& folder) {
  const std::string path = folder + "/" + kFile, text = read_regular_file(path, 1 << 20);
  const std::vector<std::string> lines = split(text, '\n');
  RowShape s;
  if (lines.size() >= 4) {
    const auto width = numbers_behind(lines[1], "width"), grid = numbers_behind(lines[2], "grid"),
               longest = numbers_behind(lines[3], "longest");
    if (width && width->size() == 1 && grid && grid->size() <= 3 && longest && longest->size() == 1)
      s = {(*width)[0], *grid, (*longest)[0], text.find(kByColumn) != text.npos};
  }
  if (s.width == 0 || text != shape_text(s) + fmt::format("hash = {:016x}\n", s.hash()))
    fail(ErrorKind::model,
         "{}: this does not say what the rows of a source are\n  fix: copy the file again, or train "
         "the model again",
         path);
  return s;
}

}  // namespace attune
