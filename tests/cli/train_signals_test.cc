// attune train as a process: signals, kills and exit codes.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "api/small_run.h"
#include "places.h"
#include "run_program.h"

namespace attune::test {
namespace {

using namespace std::chrono_literals;

/// Some seconds of training with a save every few updates.
const Sets kLong{"train.stop=150u", "train.save=2u", "train.validate=50u", "model.d_model=64", "model.d_ff=256"};

struct TrainSignals : testing::Test {
  SmallRun run;

  std::vector<std::string> arguments(const std::string& out, const Sets& more = {}) const {
    std::vector<std::string> all{"train", run.recipe(), "--out", run.folder / out, "--threads", "1"};
    for (const Sets* sets : {&kLong, &more})
      for (const std::string& s : *sets) all.insert(all.end(), {"--set", s});
    return all;
  }
  Outcome train(const std::string& out) const { return run_attune(arguments(out)); }
  /// Waits until the run in `out` has a checkpoint at or after `step`.
  bool reaches(const std::string& out, int64_t step) const {
    for (int i = 0; i < 12000; ++i, std::this_thread::sleep_for(10ms)) {
      const auto found = checkpoints(run.folder / out);
      if (!found.empty() && found.back().step >= step) return true;
    }
    return false;
  }
};

TEST_F(TrainSignals, TermSavesAndExits75) {
  EXPECT_EQ(train("whole").code, 0);
  for (const int64_t step : {2, 20, 60}) {
    RunningProgram program(program_path(), arguments("out"));
    ASSERT_TRUE(reaches("out", step)) << program.err();
    program.send(SIGTERM);
    const Outcome o = program.wait();
    ASSERT_EQ(o.code, 75) << o.err;
  }
  const Outcome o = train("out");
  EXPECT_EQ(o.code, 0) << o.err;
  expect_same_bits(run.bits("whole"), run.bits("out"));
}

TEST_F(TrainSignals, OneInterruptIsLikeTermTwoEndAtOnce) {
  RunningProgram once(program_path(), arguments("out"));
  ASSERT_TRUE(reaches("out", 2)) << once.err();
  once.send(SIGINT);
  EXPECT_EQ(once.wait().code, 75);
  // Updates of a second or so: the second signal comes before the first one is obeyed.
  RunningProgram twice(program_path(), arguments("slow", {"train.accumulate=200"}));
  for (int i = 0; i < 6000 && slurp(run.folder / "slow/train.log").empty(); ++i) std::this_thread::sleep_for(10ms);
  twice.send(SIGINT);
  std::this_thread::sleep_for(20ms);
  twice.send(SIGINT);
  EXPECT_EQ(twice.wait().code, 130);
  EXPECT_EQ(train("out").code, 0);
}

TEST_F(TrainSignals, KillsLoseNothing) {
  EXPECT_EQ(train("whole").code, 0);
  for (const int64_t step : {0, 4, 23, 51, 90}) {
    RunningProgram program(program_path(), arguments("out"));
    ASSERT_TRUE(step == 0 || reaches("out", step)) << program.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(step % 7));
    program.send(SIGKILL);
    EXPECT_EQ(program.wait().code, 128 + SIGKILL);
  }
  const Outcome o = train("out");
  EXPECT_EQ(o.code, 0) << o.err;
  expect_same_bits(run.bits("whole"), run.bits("out"));
}

TEST_F(TrainSignals, ExitCodesTellWhatWasRefused) {
  run.train("out", {}, 3);
  const auto code = [&](const std::string& set) {
    return run_attune({"train", run.recipe(), "--out", run.folder / "out", "--set", set}).code;
  };
  EXPECT_EQ(code("train.seed=2"), 3);
  const std::string text = slurp(run.folder / "train.in");
  put(run.folder / "train.in", "h" + text.substr(1, text.size() - 3) + "h\n");
  EXPECT_EQ(code("train.stop=8u"), 4);
  put(run.folder / "train.in", text);
  RunningProgram first(program_path(), arguments("other"));
  ASSERT_TRUE(reaches("other", 2)) << first.err();
  const Outcome second = train("other");
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find("another run is training in"), std::string::npos) << second.err;
}

}  // namespace
}  // namespace attune::test
