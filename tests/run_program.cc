#include "run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace attune::test {

TempFolder::TempFolder(const std::string& under) {
  const std::filesystem::path folder = under.empty() ? std::filesystem::temp_directory_path().string() : under;
  std::string name = (folder / "attune-test-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string memory_folder() { return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : ""; }

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

struct RunningProgram::Files {
  TempFolder folder;
};

RunningProgram::RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment)
    : files_(std::make_unique<Files>()) {
  const TempFolder& folder = files_->folder;
  std::vector<std::string> words{program}, variables = environment;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (char** e = environ; *e; ++e)
    if (!std::string(*e).starts_with("ATTUNE_ISA=")) variables.emplace_back(*e);
  const auto pointers = [](std::vector<std::string>& list) {
    std::vector<char*> p;
    for (auto& s : list) p.push_back(s.data());
    p.push_back(nullptr);
    return p;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, (folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, (folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  const int failed =
      posix_spawn(&pid_, program.c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) throw std::runtime_error("cannot start " + program);
}

RunningProgram::~RunningProgram() {
  if (pid_ == 0) return;
  send(SIGKILL);
  wait();
}

void RunningProgram::send(int signal) const { kill(pid_, signal); }

bool RunningProgram::running() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

bool RunningProgram::wait_until(const std::function<bool()>& so) const {
  while (!so())
    if (!running())
      return so();
    else
      usleep(5000);  // leaves the core to the program; nothing depends on how long
  return true;
}

std::string RunningProgram::err() const { return slurp(files_->folder / "err"); }

Outcome RunningProgram::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = 0;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(files_->folder / "out"), err()};
}

Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment) {
  return RunningProgram(program, arguments, environment).wait();
}

}  // namespace attune::test
