// The program as people call it from a shell, and its output line by line.
#pragma once
#include <sstream>
#include <string>
#include <vector>

#include "places.h"
#include "run_program.h"

namespace attune::test {

/// What a shell makes of `command`, in which $A is the program and $M the model.
inline Outcome shell(const std::string& model, const std::string& command) {
  return run_program("/bin/sh", {"-c", command}, {"A=" + program_path(), "M=" + model});
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace attune::test
