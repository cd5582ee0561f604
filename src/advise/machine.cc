#include "attune/machine.h"

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "attune/text.h"
#include "base/limits.h"
#include "base/load.h"
#include "base/thread_pool.h"
#include "kernels/isa.h"

namespace attune {

namespace {

constexpr int64_t kGigabyte = int64_t{1} << 30;
constexpr const char* kFeatures[] = {"sse2",        "ssse3",    "sse4_1",   "avx",      "f16c",     "fma",
                                     "avx2",        "avx512f",  "avx512bw", "avx512vl", "avx_vnni", "avx512_vnni",
                                     "avx512_bf16", "amx_bf16", "amx_int8", "asimd",    "asimddp",  "bf16",
                                     "i8mm",        "sve",      "sve2"};

void read_cpu(Machine& m) {
  std::ifstream in("/proc/cpuinfo");
  std::string line, flags;
  while (std::getline(in, line)) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string value = colon + 2 < line.size() ? line.substr(colon + 2) : "";
    if (line.starts_with("model name") && m.cpu.empty()) m.cpu = value;
    if ((line.starts_with("flags") || line.starts_with("Features")) && flags.empty()) flags = " " + value + " ";
  }
  if (m.cpu.empty()) {
    utsname name{};
    m.cpu = uname(&name) == 0 ? name.machine : "unknown";
  }
  for (const char* f : kFeatures)
    if (flags.find(" " + std::string(f) + " ") != std::string::npos) m.features.emplace_back(f);
}

/// The word in brackets of "always [madvise] never".
std::string huge_pages() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t from = line.find('['), to = line.find(']');
  return from < to && to != std::string::npos ? line.substr(from + 1, to - from - 1) : "unknown";
}

void read_folder(Machine& m) {
  struct statvfs disk {};
  if (statvfs(m.folder.c_str(), &disk) == 0)
    m.disk_free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  m.folder_writable = access(m.folder.c_str(), W_OK | X_OK) == 0;
}

void warn(Machine& m) {
  const auto add = [&](std::string text, std::string fix) { m.warnings.push_back({std::move(text), std::move(fix)}); };
  if (!m.fma && isa_has_fma(m.isas.front()))
    add(fmt::format("'{}' has no fused multiply-add: slow, and results differ from those of '{}' in the last digits",
                    m.isa, m.isas.front()),
        fmt::format("leave --isa and ATTUNE_ISA away, or use {}", m.isas.front()));
  else if (!m.fma)
    add("this CPU has no fused multiply-add: slow, and results differ in the last digits from machines that have it",
        "use a CPU with AVX2, or let the virtual machine see the host's CPU features");
  if (m.cpu_quota > 0 && m.cpu_quota < m.cores_allowed)
    add(fmt::format("the container gets {:.1f} cores' worth of time of the {} that it may run on: {} used unless "
                    "--threads says more",
                    m.cpu_quota, m.cores_allowed, default_threads() == 1 ? "one is" : "no more are"),
        "give the container more, where the machine has it");
  if (m.address_space_limit > 0 && m.address_space_limit < 4 * kGigabyte)
    add(fmt::format("ulimit -v allows {} of address space", human_bytes(m.address_space_limit)), "ulimit -v unlimited");
  if (m.memory_limit > 0 && m.memory_limit < kGigabyte)
    add(fmt::format("the container is limited to {} of memory", human_bytes(m.memory_limit)),
        "start it with more memory, or train with a smaller budget of tokens per batch");
  if (m.memory_available > 0 && m.memory_available < kGigabyte)
    add(fmt::format("only {} of memory are free", human_bytes(m.memory_available)), "end what else is running");
  if (m.huge_pages == "never")
    add("huge pages are off: large models lose some speed",
        "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  if (!m.folder_writable)
    add(fmt::format("nothing can be written to {}", m.folder), "go to another folder, or give its owner's permission");
  else if (m.disk_free < kGigabyte)
    add(fmt::format("only {} are free on the disk of {}", human_bytes(m.disk_free), m.folder),
        "make room before training: a full disk stops a run");
}

}  // namespace

int default_threads() { return available_cores(); }

Machine describe_machine(const std::string& folder) {
  Machine m;
  read_cpu(m);
  m.isas = available_isas();
  m.isa = chosen_isa();
  m.fma = isa_has_fma(m.isa);
  m.cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  m.cores_allowed = allowed_cores();
  const Limits limits = read_limits();
  m.cpu_quota = limits.cpu_quota;
  m.memory = limits.memory;
  m.memory_available = limits.memory_available;
  m.memory_limit = limits.memory_limit;
  m.address_space_limit = limits.address_space;
  m.huge_pages = huge_pages();
  const RecentLoad recent = recent_load();
  m.load_average = recent.average;
  m.waiting = recent.waiting;
  m.folder = folder;
  read_folder(m);
  warn(m);
  return m;
}

}  // namespace attune
