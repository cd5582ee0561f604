#include "cli/output.h"

#include <fmt/core.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "attune/error.h"
#include "attune/text.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Value& value);
Json json_of(const Record& record) {
  Json object = Json::object();
  for (const auto& [key, value] : record) object[key] = json_of(value);
  return object;
}
Json json_of(const List& list) {
  Json array = Json::array();
  for (const Value& v : list) array.push_back(json_of(v));
  return array;
}
template <class T>
Json json_of(const T& plain) {
  return Json(plain);
}
Json json_of(const Value& value) {
  return std::visit([](const auto& v) { return json_of(v); },
                    static_cast<const std::variant<bool, int64_t, double, std::string, List, Record>&>(value));
}

/// How wide a text is in a terminal: its letters, not its bytes.
size_t width(const std::string& text) {
  size_t n = 0;
  for (char c : text) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return n;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,-+%~ ") == std::string::npos;
}

}  // namespace

std::string to_json(const Record& record) {
  return json_of(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}

double rounded(double x, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(x * scale) / scale;
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  std::vector<bool> right(head.size(), true);
  for (size_t c = 0; c < head.size(); ++c) {
    widths.push_back(width(head[c]));
    for (const auto& row : rows) {
      widths[c] = std::max(widths[c], width(row[c]));
      right[c] = right[c] && is_number(row[c]);
    }
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string gap(widths[c] - width(cells[c]), ' ');
      text += (c ? "  " : "") + (right[c] ? gap + cells[c] : cells[c] + gap);
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  line(head);
  for (const auto& row : rows) line(row);
  return out;
}

namespace {
bool outlives_readers = false, nobody_reads = false;

bool reader_is_gone() {
  if (errno == EPIPE) nobody_reads = outlives_readers;
  if (nobody_reads) std::clearerr(stdout);
  return nobody_reads;
}
}  // namespace

void outlive_readers() { outlives_readers = true; }

void print(const std::string& text) {
  if (nobody_reads) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && !reader_is_gone())
    throw Error(ErrorKind::io, std::string("cannot write the result to stdout: ") + std::strerror(errno));
}

void finish_output() {
  if (nobody_reads) return;
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && !reader_is_gone())
    throw Error(ErrorKind::io, std::string("cannot write the result to stdout: ") + std::strerror(errno));
}

void note_cropped(int64_t lines, int64_t tokens) {
  if (lines > 0)
    tell("note: {} line{} cropped to {} tokens, the most this model can read\n", thousands(lines),
         lines == 1 ? " was" : "s were", thousands(tokens));
}

void note_beyond(int64_t lines, int64_t tokens) {
  if (lines > 0)
    tell("note: {} line{} longer than the {} tokens of the longest that the model learned from: worth little\n",
         thousands(lines), lines == 1 ? " is" : "s are", thousands(tokens));
}

void note_busy(const Load& load) {
  if (const std::string note = busy_note(load); !note.empty()) tell("note: {}\n", note);
}

}  // namespace attune::cli
