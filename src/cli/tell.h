// What the program says beside its output: on stderr.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace attune::cli {

/// Formatted text to stderr. Where nobody can hear it (a full disk, a closed pipe) the work goes on.
template <class... Args>
void tell(fmt::format_string<Args...> text, Args&&... args) {
  const std::string said = fmt::vformat(text, fmt::make_format_args(args...));
  if (std::fwrite(said.data(), 1, said.size(), stderr) < said.size()) std::clearerr(stderr);
}

}  // namespace attune::cli
