// The one exception type of the library. Catch it to learn what went wrong, where, and what to do.
#pragma once
#include <stdexcept>
#include <string>

namespace attune {

/// What kind of trouble an Error is; the program maps each to an exit code, the server to an HTTP status.
enum class ErrorKind { usage, recipe, data, model, io, diverged, memory, internal };

/// Thrown by everything in attune. The text is one or two lines: what, where, and (after "fix:") what to do. It may
/// quote what stands in a file, which may be anything: control characters become \xNN, and lines beyond a thousand
/// bytes lose their middle.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text);
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// The word for a kind ("usage", "data", ...).
const char* name_of(ErrorKind kind);
/// The exit code of the program for a kind: 2 usage, 3 recipe, 4 data, 5 model, 6 io, 7 diverged, 8 memory, 70
/// internal.
int exit_code(ErrorKind kind);

}  // namespace attune
