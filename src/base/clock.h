// Seconds on a clock that never jumps: for durations, not for dates.
#pragma once
#include <chrono>

namespace attune {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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
