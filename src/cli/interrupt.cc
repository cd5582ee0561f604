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
  for (int i = 0; i < 3; ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    const bool ignored = before_[i].sa_handler == SIG_IGN && kSignals[i] == SIGHUP;  // by nohup
    if (!ignored) sigaction(kSignals[i], &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);  // until the program ends: what it says at last must not kill it either
  outlive_readers();
}

Interruptible::~Interruptible() {
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &before_[i], nullptr);
  running = nullptr;
}

bool Interruptible::asked() { return signalled != 0; }

}  // namespace attune::cli
