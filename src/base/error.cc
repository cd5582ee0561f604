#include "base/error.h"

namespace attune {

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
