// What other work takes of a machine, told from fixed text.
#include "base/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "run_program.h"

namespace attune {
namespace {

/// /proc/stat of two cores after so many seconds of users' time, idleness and theft, of both together.
LoadSample moment(double now, double own, double user, double idle, double stolen) {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto in_ticks = [&](double seconds) { return std::to_string(static_cast<int64_t>(seconds * ticks)); };
  const std::string line = in_ticks(user) + " 0 0 " + in_ticks(idle) + " 7 0 0 " + in_ticks(stolen) + " 0 0\n";
  return {now, own, "cpu  " + line + "cpu0 " + line + "cpu1 " + line + "intr 12 cpu\n"};
}

TEST(Load, IsWhatOthersTook) {
  const LoadSample before = moment(100, 5, 1000, 1000, 0);
  // Ten seconds: this process used 6 of the 20 seconds that two cores have, others 14.
  const Load busy = load_between(before, moment(110, 11, 1020, 1000, 0));
  EXPECT_EQ(busy.cores, 2);
  EXPECT_NEAR(busy.taken, 1.4, 1e-9);
  EXPECT_NEAR(busy.share(), 0.7, 1e-9);
  EXPECT_TRUE(busy.busy());
  EXPECT_EQ(busy_note(busy), "this machine was busy with other work (about 1.4 of 2 cores): times are too high");
  const Load alone = load_between(before, moment(110, 25, 1020.5, 999.5, 0));
  EXPECT_FALSE(alone.busy());
  EXPECT_EQ(busy_note(alone), "");
}

TEST(Load, TimeThatOtherVirtualMachinesTookCounts) {
  const Load load = load_between(moment(0, 0, 0, 0, 0), moment(10, 10, 10, 2, 8));
  EXPECT_NEAR(load.stolen, 0.8, 1e-9);
  EXPECT_NEAR(load.taken, 0.8, 1e-9);
  EXPECT_NE(busy_note(load).find("0.8 of 2 cores, most of it by other virtual machines"), std::string::npos);
}

TEST(Load, NothingIsSaidWhereNothingIsKnown) {
  const LoadSample before = moment(0, 0, 0, 0, 0), soon = moment(0.1, 0, 0.2, 0, 0);
  EXPECT_FALSE(load_between(before, soon).busy()) << "too short to tell";
  LoadSample none = moment(10, 0, 20, 0, 0);
  none.stat = "";
  EXPECT_FALSE(load_between(before, none).busy());
  EXPECT_EQ(load_between(before, none).cores, 0);
  EXPECT_EQ(load_between(before, none).share(), 0);
  // Ticks are coarse: this process may have used more than they tell.
  EXPECT_EQ(load_between(before, moment(10, 20, 19, 1, 0)).taken, 0);
}

TEST(Load, TheLastMinuteAndWhoWaited) {
  const test::TempFolder root;
  EXPECT_LT(recent_load(root.path()).average, 0);
  EXPECT_LT(recent_load(root.path()).waiting, 0);
  std::filesystem::create_directories(root / "proc/pressure");
  std::ofstream(root / "proc/loadavg") << "1.25 0.80 0.40 2/140 123\n";
  std::ofstream(root / "proc/pressure/cpu") << "some avg10=12.50 avg60=1.00 avg300=0.00 total=1\n";
  EXPECT_EQ(recent_load(root.path()).average, 1.25);
  EXPECT_EQ(recent_load(root.path()).waiting, 0.125);
  std::ofstream(root / "proc/stat") << "cpu  1 2 3 4\ncpu0 1 2 3 4\n";
  EXPECT_EQ(load_between(sample_load(root.path()), sample_load(root.path())).cores, 1);
}

}  // namespace
}  // namespace attune
