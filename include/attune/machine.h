// What this machine offers to attune, and what may go wrong on it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attune {

/// Something about a machine that costs speed or may stop a run, and the remedy.
struct MachineWarning {
  std::string text, fix;
};

/// Sizes are bytes; a limit of 0 means there is none.
struct Machine {
  std::string cpu;
  std::vector<std::string> features;  // of the CPU, those that matter to kernels
  std::vector<std::string> isas;      // the instruction sets there are kernels for, best first
  std::string isa;                    // the one in use
  bool fma = false;                   // it has fused multiply-add: results equal those of all machines that have it

  int cores = 1;          // of the machine
  int cores_allowed = 1;  // this process may run on (affinity)
  double cpu_quota = 0;   // cores' worth of time this process may use (container)

  int64_t memory = 0, memory_available = 0;
  int64_t memory_limit = 0;         // of the container
  int64_t address_space_limit = 0;  // ulimit -v
  std::string huge_pages;           // "always", "madvise", "never" or "unknown"

  double load_average = -1;  // of the last minute; below 0: nobody knows
  double waiting = -1;  // the share of the last ten seconds in which something waited for a core; below 0: the same

  std::string folder;
  int64_t disk_free = 0;
  bool folder_writable = false;

  std::vector<MachineWarning> warnings;
};

/// What other work took of the machine while something was measured.
struct Load {
  double taken = 0;   // cores' worth of time, that of other virtual machines included
  double stolen = 0;  // of it: by other virtual machines
  int cores = 0;      // of the machine; 0: nobody knows

  double share() const;  // of the cores, 0 to 1
  bool busy() const;     // so much that times and speeds are wrong: a tenth of the cores and more
};
/// Watches for so many seconds, a fifth of one at least.
Load watch_load(double seconds = 0.25);
/// A sentence for whoever reads the figures: "this machine was busy with other work (about 1.4 of 2 cores): ..."; ""
/// where it was not.
std::string busy_note(const Load& load);

/// Looks at the CPU, its cores, memory, limits, and the disk that `folder` is on. Takes about a millisecond.
Machine describe_machine(const std::string& folder = ".");

/// The instruction sets there are kernels for and this CPU can run, best first.
std::vector<std::string> available_isas();
/// The one in use.
std::string chosen_isa();
/// Uses that instruction set from now on ("" or "auto": the best). Throws a usage error for one that can't run here.
/// Call it before any other work: what was prepared for one set can't be used with another.
void force_isa(const std::string& name);
/// How many threads "all cores" means: those this process may run on.
int default_threads();

}  // namespace attune
