// Ctrl-C, SIGTERM and a closed terminal while a Trainer or a Comparer runs: the first asks it to save and return,
// Ctrl-C once more ends at once. Whoever stops reading what it says (a closed pipe) stops nothing.
#pragma once
#include <csignal>

namespace attune::cli {

/// For the scope. One at a time.
class Interruptible {
 public:
  enum class Talk { none, line, over_a_live_line };
  /// `job` has a stop() that a signal handler may call. `say` is written to stderr by that handler when the first
  /// signal comes; both must outlive the scope.
  template <class Job>
  Interruptible(Job& job, Talk talk, const char* say)
      : Interruptible(
            &job, [](void* p) { static_cast<Job*>(p)->stop(); }, talk, say) {}
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  /// Whether a signal came.
  static bool asked();

 private:
  Interruptible(void* job, void (*stop)(void*), Talk talk, const char* say);

  static constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};
  struct sigaction before_[3] = {};
};

}  // namespace attune::cli
