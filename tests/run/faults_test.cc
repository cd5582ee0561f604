// What may happen to a run from outside: its folder is removed, its corpus is edited, a file of it goes away.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "checks.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;

struct Faults : testing::Test {
  SmallRun run;
};

TEST_F(Faults, AFolderThatIsRemovedIsMadeAnewAndTheRunCanGoOn) {
  const std::string out = run.folder / "out";
  Trainer trainer({.recipe = run.recipe(), .out = out, .sets = {}, .fresh = false, .threads = 1});
  TrainingEvents events;
  events.on_update = [&](const TrainingStatus& s) {
    if (s.update == 8) fs::remove_all(out);
  };
  EXPECT_EQ(error_of([&] { trainer.run(events); }, ErrorKind::io),
            out +
                " was removed or moved while the run trained in it; the checkpoint of update 10 is there again\n"
                "  fix: put the folder back or leave it as it is, and give the same command to go on");
  ASSERT_TRUE(latest_checkpoint(out));
  EXPECT_EQ(latest_checkpoint(out)->checkpoint.step, 10);
  EXPECT_TRUE(latest_checkpoint(out)->damaged.empty());
  EXPECT_EQ(run.train("out").outcome.updates, 22);
  run.train("whole");
  const auto a = run.bits("out"), b = run.bits("whole");
  EXPECT_TRUE(a.at("last checkpoint model.safetensors") == b.at("last checkpoint model.safetensors"));
}

/// Another run may have taken the place of the folder: that one is left alone.
TEST_F(Faults, AFolderThatAnotherRunMadeAnewIsItsOwn) {
  const std::string out = run.folder / "out";
  Trainer trainer({.recipe = run.recipe(), .out = out, .sets = {}, .fresh = false, .threads = 1});
  TrainingEvents events;
  events.on_update = [&](const TrainingStatus& s) {
    if (s.update != 8) return;
    fs::remove_all(out);
    run.train("out", {"train.seed=2"}, 4);
  };
  EXPECT_TRUE(error_of([&] { trainer.run(events); }, ErrorKind::usage).starts_with("another run has just trained in "));
  ASSERT_TRUE(latest_checkpoint(out));
  EXPECT_EQ(latest_checkpoint(out)->checkpoint.step, 4);
}

TEST_F(Faults, AnEditedCorpusIsRefusedAndNothingIsLost) {
  run.train("out", {}, 7);
  const auto before = run.bits("out");
  const std::string path = run.folder / "train.in", text = slurp(path);
  write_file(path, "x" + text);
  EXPECT_EQ(error_of([&] { run.train("out"); }, ErrorKind::data),
            "the training data is not what the run in " + (run.folder / "out") +
                " began with\n  fix: put the old files back to go on, give --out another folder, or start anew with "
                "--fresh");
  expect_same_bits(before, run.bits("out"));
  write_file(path, text);
  EXPECT_EQ(run.train("out").outcome.updates, 22);
  run.train("whole");
  expect_same_bits(run.bits("whole"), run.bits("out"));
}

/// A checkpoint that was to be averaged is left out when it is damaged; the run still ends with a model.
TEST_F(Faults, ADamagedCheckpointIsNotAveraged) {
  run.train("out", {}, 14);
  write_file(checkpoint_path(run.folder / "out", 12) + "/model.safetensors", "damage");
  const TrainingOutcome o = run.train("out").outcome;
  const auto mean = std::ranges::find(o.judged, FinalWeights::Kind::mean, &FinalWeights::kind);
  ASSERT_NE(mean, o.judged.end());
  EXPECT_EQ(mean->updates, (std::vector<int64_t>{18, 22})) << "of 12, 18 and 22";
  EXPECT_TRUE(run.train("out").outcome.was_over);
}

TEST_F(Faults, ACorpusThatIsGoneIsToldWithItsKey) {
  run.train("out", {}, 7);
  fs::rename(run.folder / "train.in", run.folder / "train.i");
  const std::string text = error_of([&] { run.train("out"); }, ErrorKind::data);
  EXPECT_NE(text.find("data.train: cannot read " + (run.folder / "train.in")), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean " + (run.folder / "train.i")), std::string::npos) << text;
}

}  // namespace
}  // namespace attune::test
