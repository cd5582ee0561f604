// Ctrl-C and SIGTERM while a Trainer or a Comparer runs: the first asks it to save and return, Ctrl-C once more ends at
// once.
#pragma once

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
};

}  // namespace attune::cli
