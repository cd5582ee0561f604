// Ctrl-C and SIGTERM while a Trainer runs: the first asks it to save and return, Ctrl-C once more ends at once.
#pragma once

namespace attune {
class Trainer;
}

namespace attune::cli {

/// For the scope. One at a time.
class Interruptible {
 public:
  enum class Talk { none, line, over_a_live_line };
  /// `say` is written to stderr by the signal handler when the first signal comes; it must outlive the scope.
  Interruptible(Trainer& trainer, Talk talk, const char* say);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  /// Whether a signal came.
  static bool asked();
};

}  // namespace attune::cli
