// Raising errors: `fail` for a kind of trouble, `check` for what an operation demands of its arguments.
#pragma once
#include <fmt/core.h>

#include "attune/error.h"

namespace attune {

// What is formatted and thrown is compiled once, not at each of a thousand calls.
[[noreturn]] void fail_with(ErrorKind kind, fmt::string_view text, fmt::format_args args);
[[noreturn]] void fail_check(const char* op, fmt::string_view text, fmt::format_args args);

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  fail_with(kind, text, fmt::make_format_args(args...));
}

/// Throws "[op] text" unless `ok`. Always on: it guards what callers hand in, not what the code itself guarantees.
template <class... Args>
void check(bool ok, const char* op, fmt::format_string<Args...> text, Args&&... args) {
  if (!ok) [[unlikely]]
    fail_check(op, text, fmt::make_format_args(args...));
}

}  // namespace attune
