#include "base/load.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/limits.h"

namespace attune {

namespace {

constexpr double kShortest = 0.2;    // seconds
constexpr double kBusyShare = 0.10;  // of the cores: what a desktop does beside stays below

struct CpuTimes {
  double used = 0, stolen = 0;  // seconds of all cores together
  int cores = 0;
};

/// The fields of a line: user nice system idle iowait irq softirq steal; guests are counted as users already.
CpuTimes cpu_times(const std::string& stat) {
  CpuTimes t;
  const auto ticks = static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
  std::istringstream in(stat);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("cpu")) continue;
    if (line[3] != ' ') {
      ++t.cores;
      continue;
    }
    std::istringstream fields(line.substr(4));
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
    fields >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
    t.used = (user + nice + system + irq + soft) / ticks;
    t.stolen = steal / ticks;
  }
  return t;
}

std::string whole_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

double process_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

LoadSample sample_load(const std::string& root) {
  return {now_seconds(), process_seconds(), whole_file(root + "/proc/stat")};
}

Load load_between(const LoadSample& before, const LoadSample& after) {
  const CpuTimes a = cpu_times(before.stat), b = cpu_times(after.stat);
  const double seconds = after.now - before.now;
  Load load;
  load.cores = b.cores;
  if (b.cores == 0 || a.cores == 0 || seconds < kShortest) return load;
  const double others = std::max(0.0, (b.used - a.used) - (after.own - before.own));
  load.stolen = std::max(0.0, (b.stolen - a.stolen) / seconds);
  load.taken = std::min<double>(b.cores, others / seconds + load.stolen);
  return load;
}

RecentLoad recent_load(const std::string& root) {
  RecentLoad r;
  if (const std::string line = first_line(root + "/proc/loadavg"); !line.empty()) r.average = std::atof(line.c_str());
  const std::string line = first_line(root + "/proc/pressure/cpu");  // "some avg10=0.12 avg60=..."
  if (const size_t at = line.find("avg10="); at != std::string::npos)
    r.waiting = std::atof(line.c_str() + at + 6) / 100;
  return r;
}

double Load::share() const { return cores > 0 ? taken / cores : 0; }
bool Load::busy() const { return share() >= kBusyShare; }

std::string busy_note(const Load& load) {
  if (!load.busy()) return "";
  return fmt::format("this machine was busy with other work (about {:.1f} of {} core{}{}): times are too high",
                     load.taken, load.cores, load.cores == 1 ? "" : "s",
                     load.stolen >= load.taken / 2 ? ", most of it by other virtual machines" : "");
}

Load watch_load(double seconds) {
  const LoadMeter meter;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return meter.load();
}

}  // namespace attune
