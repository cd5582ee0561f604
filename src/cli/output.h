// A command's result as data: written as JSON lines, or laid out as a table.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attune/machine.h"

namespace attune::cli {

/// Lines of a file that are worked on together, at most: what is to be had without waiting.
inline constexpr size_t kChunkLines = 4096, kChunkBytes = 4 << 20;

struct Value;
/// Keys in the order they are written.
using Record = std::vector<std::pair<std::string, Value>>;
using List = std::vector<Value>;

struct Value : std::variant<bool, int64_t, double, std::string, List, Record> {
  using variant::variant;
  Value(int n) : variant(int64_t{n}) {}
  Value(const char* s) : variant(std::string(s)) {}
  Value(const std::vector<std::string>& words) : variant(List(words.begin(), words.end())) {}
};

/// One line of JSON, without the line end.
std::string to_json(const Record& record);
/// Rounds to so many digits behind the point, for figures that carry no more.
double rounded(double x, int digits);

/// Rows under a headline, columns as wide as needed; numbers to the right, the first column too unless it has letters.
std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

/// Writes to stdout. Throws ErrorKind::io when that fails (a full disk).
void print(const std::string& text);
/// Ends the output: whatever could not be written is an error, not a silence.
void finish_output();
/// From now on a pipe that nobody reads any more is no error: nothing is written to it.
void outlive_readers();

/// A note on stderr that so many lines were cropped to so many tokens; none of none.
void note_cropped(int64_t lines, int64_t tokens);
/// And that some were longer than any the model learned from.
void note_beyond(int64_t lines, int64_t tokens);
/// And that other work took so much of the machine that what was timed took too long; none where it did not.
void note_busy(const Load& load);

}  // namespace attune::cli
