// Lines typed at a terminal: a program on a pseudoterminal, as a person has it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "api/model_maker.h"
#include "places.h"

namespace attune::test {
namespace {

class Terminal {
 public:
  explicit Terminal(const std::vector<std::string>& words) {
    std::vector<char*> argv{const_cast<char*>(program_path().c_str())};
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = forkpty(&fd_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      setenv("TERM", "vt100", 1);
      setenv("HOME", "/nonexistent", 1);  // nobody's settings
      execv(program_path().c_str(), argv.data());
      _exit(127);
    }
  }
  ~Terminal() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(fd_);
  }
  void type(const std::string& keys) { EXPECT_EQ(write(fd_, keys.data(), keys.size()), std::ssize(keys)); }
  /// What it shows until `wanted` is there `times` times, or a minute is over.
  const std::string& until(const std::string& wanted, int times = 1) {
    for (int waited = 0; waited < 600 && count(wanted) < times;) {
      pollfd p{fd_, POLLIN, 0};
      if (poll(&p, 1, 100) == 0) {
        ++waited;
        continue;
      }
      char buffer[4096];
      const ssize_t n = read(fd_, buffer, sizeof buffer);
      if (n <= 0) break;
      shown_.append(buffer, static_cast<size_t>(n));
    }
    EXPECT_GE(count(wanted), times) << wanted << " in " << shown_;
    return shown_;
  }
  /// Its exit code; -1 if it goes on for a minute.
  int end() {
    int status = -1;
    char buffer[4096];
    pollfd p{fd_, POLLIN, 0};
    do
      if (poll(&p, 1, 60000) == 0) return -1;
    while (read(fd_, buffer, sizeof buffer) > 0);
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  int count(const std::string& wanted) const {
    int n = 0;
    for (size_t at = 0; (at = shown_.find(wanted, at)) != std::string::npos; at += wanted.size()) ++n;
    return n;
  }
  int fd_ = -1;
  pid_t pid_ = 0;
  std::string shown_;
};

TEST(LineEditor, ALineTypedIsALineTranslated) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const std::string in = dir / "in";
  { std::ofstream(in) << "a dog\n"; }
  std::string answer = run_attune({"translate", model, in, "--quiet"}).out;
  answer.pop_back();
  Terminal t({"translate", model});
  t.until("en to de; Ctrl-D ends");
  t.until("en> ");
  t.type("a dog\n");
  t.until("\n" + answer + "\r\n");
  t.until("en> ", 2);
  t.type("\x04");
  EXPECT_EQ(t.end(), 0);
}

}  // namespace
}  // namespace attune::test
