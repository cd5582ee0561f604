// How much of the machine other work takes while something is timed: then times are too high, and who reads them should
// know. Start a meter before, read it after; reading costs some microseconds.
#pragma once
#include <string>

#include "attune/machine.h"

namespace attune {

/// What the system tells at one moment.
struct LoadSample {
  double now = 0;    // seconds on any clock
  double own = 0;    // processor seconds of this process so far
  std::string stat;  // /proc/stat
};

/// `root` stands before /proc, so that tests can bring their own.
LoadSample sample_load(const std::string& root = "");
/// Between two moments; nothing is said of less than a fifth of a second, in which the clock of /proc/stat ticks too
/// few times.
Load load_between(const LoadSample& before, const LoadSample& after);

class LoadMeter {
 public:
  Load load() const { return load_between(start_, sample_load()); }
  void restart() { start_ = sample_load(); }

 private:
  LoadSample start_ = sample_load();
};

/// The load average of the last minute, and the share of the last ten seconds in which something waited for a core
/// (/proc/pressure/cpu); below 0 where nobody knows.
struct RecentLoad {
  double average = -1, waiting = -1;
};
RecentLoad recent_load(const std::string& root = "");

}  // namespace attune
