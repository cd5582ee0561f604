#include "base/limits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "run_program.h"

namespace attune {
namespace {

/// A machine of files: /proc and /sys under a folder.
struct FakeSystem {
  test::TempFolder root;
  FakeSystem() { put("/proc/meminfo", "MemTotal:       8000 kB\nMemFree: 1 kB\nMemAvailable:    4000 kB\n"); }
  void put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(root.path() + path).parent_path());
    std::ofstream(root.path() + path) << content;
  }
};

TEST(Limits, WithoutAContainerThereAreNone) {
  const FakeSystem s;
  const Limits l = read_limits(s.root.path());
  EXPECT_EQ(l.memory, 8000 * 1024);
  EXPECT_EQ(l.memory_available, 4000 * 1024);
  EXPECT_EQ(l.memory_limit, 0);
  EXPECT_EQ(l.cpu_quota, 0);
}

TEST(Limits, TheLeastOnTheWayUpCounts) {
  const FakeSystem s;
  s.put("/proc/self/cgroup", "0::/user/job\n");
  s.put("/sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  s.put("/sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  s.put("/sys/fs/cgroup/user/job/memory.max", "3000000\n");
  s.put("/sys/fs/cgroup/user/memory.max", "2000000\n");
  s.put("/sys/fs/cgroup/memory.max", "max\n");
  const Limits l = read_limits(s.root.path());
  EXPECT_DOUBLE_EQ(l.cpu_quota, 1.5);
  EXPECT_EQ(l.memory_limit, 2000000);
}

TEST(Limits, TheOldHierarchyIsReadToo) {
  const FakeSystem s;
  s.put("/proc/self/cgroup", "4:memory:/box\n3:cpu,cpuacct:/box\n");
  s.put("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n");
  s.put("/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  s.put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  s.put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  s.put("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");  // its way to say: none
  const Limits l = read_limits(s.root.path());
  EXPECT_DOUBLE_EQ(l.cpu_quota, 0.5);
  EXPECT_EQ(l.memory_limit, 0);
}

TEST(Limits, APeakCanBeForgotten) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep what is freed";
#endif
  constexpr size_t kBytes = 64 << 20;
  {
    const std::vector<char> much(kBytes, 1);
    const volatile char last = much.back();  // or clang leaves it out
    EXPECT_EQ(last, 1);
  }
  const int64_t before = peak_resident_bytes();
  EXPECT_GE(before, resident_bytes());
  forget_freed_memory();
  if (!forget_peak()) GTEST_SKIP() << "not on this system";
  EXPECT_LT(peak_resident_bytes(), before);
  EXPECT_GE(peak_resident_bytes(), resident_bytes() / 2);
}

TEST(Limits, ThreadsAreNoMoreThanTheQuotaCanKeepAtWork) {
  const FakeSystem s;
  EXPECT_EQ(available_cores(s.root.path()), allowed_cores());
  s.put("/proc/self/cgroup", "0::/\n");
  s.put("/sys/fs/cgroup/cpu.max", "190000 100000\n");
  EXPECT_EQ(available_cores(s.root.path()), 1) << "a second would be stopped most of the time";
  s.put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(available_cores(s.root.path()), 1) << "never none";
  s.put("/sys/fs/cgroup/cpu.max", "100000000 100000\n");
  EXPECT_EQ(available_cores(s.root.path()), allowed_cores());
}

}  // namespace
}  // namespace attune
