#include "base/limits.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace attune {

namespace {

/// "8123456 kB" after `key` in /proc/meminfo.
int64_t meminfo(const std::string& root, const std::string& key) {
  std::ifstream in(root + "/proc/meminfo");
  std::string line;
  while (std::getline(in, line))
    if (line.starts_with(key + ":")) return std::atoll(line.c_str() + key.size() + 1) * 1024;
  return 0;
}

/// This process's cgroup folder under one hierarchy ("": version 2), as /proc/self/cgroup tells it.
std::string cgroup_path(const std::string& root, const std::string& controller) {
  std::ifstream in(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(in, line)) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers.find("," + controller + ",") != std::string::npos) return line.substr(second + 1);
  }
  return "/";
}

/// Calls f with every folder from the process's own up to the root: a limit may stand at any of them.
template <class F>
void up_the_tree(const std::string& mount, std::string path, F f) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  for (;;) {
    f(mount + path);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return;
    path.resize(slash);
  }
}

void take_least(double value, double& least) {
  if (value > 0 && (least == 0 || value < least)) least = value;
}

}  // namespace

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

int allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

int available_cores(const std::string& root) {
  const double quota = read_limits(root).cpu_quota;
  return quota > 0 ? std::clamp(static_cast<int>(quota), 1, allowed_cores()) : allowed_cores();
}

Limits read_limits(const std::string& root) {
  Limits limits;
  limits.memory = meminfo(root, "MemTotal");
  limits.memory_available = meminfo(root, "MemAvailable");

  double quota = 0, memory = 0;
  up_the_tree(root + "/sys/fs/cgroup", cgroup_path(root, ""), [&](const std::string& folder) {
    const std::string cpu = first_line(folder + "/cpu.max");  // "150000 100000" or "max 100000"
    const size_t space = cpu.find(' ');
    if (space != std::string::npos && !cpu.starts_with("max"))
      take_least(std::atof(cpu.c_str()) / std::max(1.0, std::atof(cpu.c_str() + space)), quota);
    take_least(std::atof(first_line(folder + "/memory.max").c_str()), memory);  // "max" reads as 0
  });
  up_the_tree(root + "/sys/fs/cgroup/cpu", cgroup_path(root, "cpu"), [&](const std::string& folder) {
    const double time = std::atof(first_line(folder + "/cpu.cfs_quota_us").c_str());  // -1: none
    const double period = std::atof(first_line(folder + "/cpu.cfs_period_us").c_str());
    if (time > 0 && period > 0) take_least(time / period, quota);
  });
  up_the_tree(root + "/sys/fs/cgroup/memory", cgroup_path(root, "memory"), [&](const std::string& folder) {
    take_least(std::atof(first_line(folder + "/memory.limit_in_bytes").c_str()), memory);
  });
  limits.cpu_quota = quota;
  // The old hierarchy writes "no limit" as a number beyond any machine.
  if (memory > 0 && memory < 1e18) limits.memory_limit = static_cast<int64_t>(memory);

  rlimit r{};
  if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
    limits.address_space = static_cast<int64_t>(r.rlim_cur);
  return limits;
}

int64_t resident_bytes() {
  const std::string line = first_line("/proc/self/statm");  // pages: in all, resident ...
  const size_t space = line.find(' ');
  if (space == std::string::npos) return 0;
  return std::strtoll(line.c_str() + space, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

void forget_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

bool forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  return static_cast<bool>(file << "5" << std::flush);
}

int64_t peak_resident_bytes() {
  // getrusage() also counts what the program had held that started this one.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace attune
