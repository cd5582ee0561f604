// Runs a program as a user would, and gives back what it said.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "places.h"

namespace attune::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// `environment` entries ("NAME=value") are added to what the tests have; ATTUNE_ISA is never inherited.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment = {});
/// The same for build/attune.
inline Outcome run_attune(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
  return run_program(program_path(), arguments, environment);
}

/// A program under way, for tests that send it signals. Killed, if it still runs, at the end of the scope.
class RunningProgram {
 public:
  RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  void send(int signal) const;
  /// Whether it has not ended yet.
  bool running() const;
  /// Until it is so, or the program has ended: true when it is so. However slow the machine is.
  bool wait_until(const std::function<bool()>& so) const;
  /// What it has said on stderr so far.
  std::string err() const;
  /// Waits for its end. The code of one ended by a signal is 128 + its number.
  Outcome wait();

 private:
  struct Files;
  std::unique_ptr<Files> files_;
  int pid_ = 0;
};

/// A fresh folder, removed at the end of the scope.
class TempFolder {
 public:
  /// `under`: where to make it (default: where the system keeps temporary files).
  explicit TempFolder(const std::string& under = "");
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A place in memory where there is one, for tests that force a lot to the disk; otherwise "".
std::string memory_folder();

std::string slurp(const std::string& path);

}  // namespace attune::test
