#include "cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace attune::cli {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// In one piece, so that what a signal handler writes can't come in between. A terminal that is gone is no error: the
/// work goes on without it.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

bool in_background(int fd) {
  const pid_t front = tcgetpgrp(fd);
  return front > 0 && front != getpgrp();
}

}  // namespace

bool is_piped(int fd) {
  constexpr int kMoment = 200;  // milliseconds
  struct stat info {};
  if (fstat(fd, &info) != 0 || !(S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode) || S_ISSOCK(info.st_mode)))
    return false;
  pollfd waiting{fd, POLLIN, 0};
  return poll(&waiting, 1, kMoment) > 0;
}

bool is_pipe(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode)) return false;
  pollfd waiting{fd, POLLIN, 0};
  return poll(&waiting, 1, 0) == 0;
}

int terminal_columns(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_live(int fd) { return isatty(fd) != 0 && environment("TERM") != "dumb"; }

bool has_colours(int fd) { return is_live(fd) && environment("NO_COLOR").empty(); }

LiveLine::~LiveLine() { clear(); }

std::string LiveLine::wipe() {
  if (shown_ == 0) return "";
  // Where the window became narrower, the terminal has broken the line in several.
  const int rows = (shown_ - 1) / terminal_columns(STDERR_FILENO);
  shown_ = 0;
  return "\r" + (rows > 0 ? "\x1b[" + std::to_string(rows) + "A" : "") + "\x1b[J";
}

void LiveLine::show(const std::string& text, int columns) {
  if (in_background(STDERR_FILENO)) return;
  const std::string before = wipe();
  shown_ = columns;
  write_all(STDERR_FILENO, (before.empty() ? "\r\x1b[K" : before) + text);
}

void LiveLine::above(const std::string& lines) { write_all(STDERR_FILENO, wipe() + lines); }

}  // namespace attune::cli
