// Seconds on a clock that never jumps: for durations, not for dates.
#pragma once
#include <chrono>
#include <ctime>

namespace attune {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of this thread alone: neighbours who take turns on the core do not count.
inline double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// How long it has existed.
class Stopwatch {
 public:
  double seconds() const { return now_seconds() - start_; }
  void restart() { start_ = now_seconds(); }

 private:
  double start_ = now_seconds();
};

}  // namespace attune
