// What the system lets this process have: cores' worth of time, memory, address space.
#pragma once
#include <cstdint>
#include <string>

namespace attune {

/// Bytes, or cores; 0 means no limit (or not known).
struct Limits {
  double cpu_quota = 0;
  int64_t memory = 0, memory_available = 0;  // of the machine
  int64_t memory_limit = 0;                  // of the container, the least on the way up
  int64_t address_space = 0;                 // ulimit -v
};

/// `root` stands before /proc and /sys, so that tests can bring their own.
Limits read_limits(const std::string& root = "");

/// The number of cores this process may run on: its affinity.
int allowed_cores();
/// How many threads it can keep at work: no more than a container's quota has cores' worth of time for, since threads
/// beyond it are all stopped together until its next period.
int available_cores(const std::string& root = "");

/// Memory of this process in bytes: now, and at its most so far.
int64_t resident_bytes();
int64_t peak_resident_bytes();
/// Lets peak_resident_bytes() begin anew. False where the system can't: then it stays that of the whole process.
bool forget_peak();
/// Gives back to the system what was freed, so that resident_bytes() counts what is held.
void forget_freed_memory();

/// The first line of a small file, "" when it can't be read: for /proc and /sys.
std::string first_line(const std::string& path);

}  // namespace attune
