#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "cli/session.h"

namespace attune::cli {

namespace {

void* running = nullptr;
void (*stop_running)(void*) = nullptr;
const char *before = "", *sentence = "";
volatile sig_atomic_t signalled = 0;

void say(const char* text) {
  if (*text && ::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // nobody listens any more: go on
}

extern "C" void on_signal(int signal) {
  const int kept = errno;
  if (signalled && signal == SIGINT) {
    if (*sentence) say("\n");  // the shell's prompt gets a line of its own
    _exit(kByCtrlC);
  }
  if (!signalled && *sentence) {
    say(before);
    say(sentence);
    say("\n");
  }
  signalled = 1;
  if (running) stop_running(running);
  errno = kept;
}

}  // namespace

Interruptible::Interruptible(void* job, void (*stop)(void*), Talk talk, const char* text) {
  stop_running = stop;
  running = job;
  before = talk == Talk::over_a_live_line ? "\r\x1b[K" : "";
  sentence = talk == Talk::none ? "" : text;
  signalled = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int s : {SIGTERM, SIGINT}) sigaction(s, &action, nullptr);
  struct sigaction old {};  // nohup has it ignored
  if (sigaction(SIGHUP, nullptr, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // who listened to what it says is gone: the work goes on
}

Interruptible::~Interruptible() {
  for (const int s : {SIGTERM, SIGINT, SIGPIPE}) ::signal(s, SIG_DFL);
  struct sigaction now {};
  if (sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == on_signal) ::signal(SIGHUP, SIG_DFL);
  running = nullptr;
}

bool Interruptible::asked() { return signalled != 0; }

}  // namespace attune::cli
