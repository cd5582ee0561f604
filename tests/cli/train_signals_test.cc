// attune train as a process: signals, kills and exit codes.
#include <gtest/gtest.h>
#include <signal.h>

#include "base/files.h"
#include "cli/shell.h"
#include "places.h"
#include "run/small_run.h"
#include "run_program.h"

namespace attune::test {
namespace {

/// A save every few updates, and no end: whatever the machine does, a signal comes before it.
const Sets kLong{"train.stop=1000000u", "train.save=2u", "train.validate=50u", "model.d_model=64", "model.d_ff=256"};

struct TrainSignals : testing::Test {
  SmallRun run;

  std::vector<std::string> arguments(const std::string& out, const Sets& more = {}) const {
    std::vector<std::string> all{"train", run.recipe(), "--out", run.folder / out, "--threads", "1"};
    for (const Sets* sets : {&kLong, &more})
      for (const std::string& s : *sets) all.insert(all.end(), {"--set", s});
    return all;
  }
  /// To the end, which is that update.
  Outcome train(const std::string& out, int64_t last) const {
    return run_attune(arguments(out, {"train.stop=" + std::to_string(last) + "u"}));
  }
  /// Waits until the run in `out` has a checkpoint at or after `step`.
  bool reaches(const RunningProgram& program, const std::string& out, int64_t step) const {
    return program.wait_until([&] {
      const auto found = checkpoints(run.folder / out);
      return !found.empty() && found.back().step >= step;
    });
  }
  /// Goes on with `out` to some updates after what it has; what it leaves is that of a run without interruption.
  void expect_nothing_lost(const std::string& out) const {
    const int64_t last = checkpoints(run.folder / out).back().step + 20;
    for (const std::string& each : {out, std::string("whole")}) {
      const Outcome o = train(each, last);
      EXPECT_EQ(o.code, 0) << o.err;
    }
    expect_same_bits(run.bits("whole"), run.bits(out));
  }
};

TEST_F(TrainSignals, TermSavesAndExits75) {
  for (const int64_t step : {2, 20, 60}) {
    RunningProgram program(program_path(), arguments("out"));
    ASSERT_TRUE(reaches(program, "out", step)) << program.err();
    program.send(SIGTERM);
    const Outcome o = program.wait();
    ASSERT_EQ(o.code, 75) << o.err;
  }
  expect_nothing_lost("out");
}

TEST_F(TrainSignals, AClosedTerminalSavesToo) {
  RunningProgram program(program_path(), arguments("out"));
  ASSERT_TRUE(reaches(program, "out", 2)) << program.err();
  program.send(SIGHUP);
  EXPECT_EQ(program.wait().code, 75);
  expect_nothing_lost("out");
}

/// Whoever reads what a run says may go; the run does not.
TEST_F(TrainSignals, AClosedPipeEndsNothing) {
  for (const std::string kind : {"--json", "--threads 2"}) {
    const std::string out = run.folder / kind.substr(2, 4);
    const Outcome o =
        shell("", "{ $A train " + run.recipe() + " --out " + out + " " + kind + " --set train.validate=1u; echo $? >" +
                      out + ".code; } 2>&1 | head -n 1 >/dev/null");
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(read_file(out + ".code"), "0\n");
    EXPECT_EQ(run_attune({"info", out, "--quiet"}).code, 0);
  }
}

TEST_F(TrainSignals, OneInterruptIsLikeTermTwoEndAtOnce) {
  RunningProgram once(program_path(), arguments("out"));
  ASSERT_TRUE(reaches(once, "out", 2)) << once.err();
  once.send(SIGINT);
  EXPECT_EQ(once.wait().code, 75);
  // An update of many seconds: the second signal comes before the first one is obeyed.
  RunningProgram twice(program_path(), arguments("slow", {"model.d_model=512", "model.d_ff=2048",
                                                          "model.encoder_layers=8", "train.batch_tokens=8192"}));
  ASSERT_TRUE(twice.wait_until([&] { return !slurp(run.folder / "slow/train.log").empty(); })) << twice.err();
  twice.send(SIGINT);
  ASSERT_TRUE(twice.wait_until([&] { return twice.err().find("Ctrl-C again") != std::string::npos; })) << twice.err();
  twice.send(SIGINT);
  EXPECT_EQ(twice.wait().code, 130);
  EXPECT_EQ(train("out", checkpoints(run.folder / "out").back().step + 4).code, 0);
}

/// An update of a million batches is not waited for, nor held in memory: it is begun anew when the run goes on.
TEST_F(TrainSignals, AStopWithinAnUpdateIsObeyedAtOnce) {
  const Sets sets{"train.accumulate=1000000", "train.average=1"};
  RunningProgram program(program_path(), arguments("long", sets));
  ASSERT_TRUE(program.wait_until([&] { return !slurp(run.folder / "long/train.log").empty(); })) << program.err();
  program.send(SIGTERM);
  const Outcome o = program.wait();
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_NE(o.err.find("saved at update 0; the same command goes on"), std::string::npos) << o.err;
  EXPECT_EQ(checkpoints(run.folder / "long").back().step, 0);
}

TEST_F(TrainSignals, KillsLoseNothing) {
  for (const int64_t step : {0, 4, 23, 51, 90}) {
    RunningProgram program(program_path(), arguments("out"));
    ASSERT_TRUE(step == 0 || reaches(program, "out", step)) << program.err();
    program.send(SIGKILL);
    EXPECT_EQ(program.wait().code, 128 + SIGKILL);
  }
  expect_nothing_lost("out");
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
  ASSERT_TRUE(reaches(first, "other", 2)) << first.err();
  const Outcome second = run_attune(arguments("other"));
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find("another run is training in"), std::string::npos) << second.err;
}

}  // namespace
}  // namespace attune::test
