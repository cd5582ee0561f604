#include "base/error.h"

#include <algorithm>

namespace attune {

namespace {

constexpr size_t kLongestLine = 1000, kBegin = 700, kEnd = 200;

/// From there on, or from where the next character begins.
size_t border(std::string_view line, size_t at) {
  while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) ++at;
  return at;
}

void add_line(std::string_view line, std::string& out) {
  if (line.size() > kLongestLine) {
    add_line(line.substr(0, border(line, kBegin)), out);
    out += " ... ";
    return add_line(line.substr(border(line, line.size() - kEnd)), out);
  }
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
}

std::string readable(std::string_view text) {
  std::string out;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    if (from > 0) out += '\n';
    add_line(text.substr(from, end - from), out);
    from = end + 1;
  }
  return out;
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& text) : std::runtime_error(readable(text)), kind_(kind) {}

void fail_with(ErrorKind kind, fmt::string_view text, fmt::format_args args) {
  throw Error(kind, fmt::vformat(text, args));
}

void fail_check(const char* op, fmt::string_view text, fmt::format_args args) {
  throw Error(ErrorKind::usage, fmt::format("[{}] ", op) + fmt::vformat(text, args));
}

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::recipe:
      return "recipe";
    case ErrorKind::data:
      return "data";
    case ErrorKind::model:
      return "model";
    case ErrorKind::io:
      return "io";
    case ErrorKind::diverged:
      return "diverged";
    case ErrorKind::memory:
      return "memory";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::recipe:
      return 3;
    case ErrorKind::data:
      return 4;
    case ErrorKind::model:
      return 5;
    case ErrorKind::io:
      return 6;
    case ErrorKind::diverged:
      return 7;
    case ErrorKind::memory:
      return 8;
    case ErrorKind::internal:
      return 70;
  }
  return 70;
}

}  // namespace attune
