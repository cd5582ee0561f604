// Raising errors: `fail` for a kind of trouble, `check` for what an operation demands of its arguments.
#pragma once
#include <fmt/core.h>

#include "attune/error.h"

namespace attune {

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(kind, fmt::format(text, std::forward<Args>(args)...));
}

/// Throws "[op] text" unless `ok`. Always on: it guards what callers hand in, not what the code itself guarantees.
template <class... Args>
void check(bool ok, const char* op, fmt::format_string<Args...> text, Args&&... args) {
  if (!ok) [[unlikely]]
    throw Error(ErrorKind::usage, fmt::format("[{}] ", op) + fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace attune
