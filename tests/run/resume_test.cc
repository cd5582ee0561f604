// Whatever stops a run and however often: the same bits in the end.
#include <gtest/gtest.h>

#include "base/files.h"
#include "checks.h"
#include "data/tokenizers.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

using Reason = TrainingOutcome::Reason;

struct Resume : testing::Test {
  SmallRun run;
};

/// One go against stops at all these updates.
void compare_with_whole(const SmallRun& run, const Sets& sets, const std::vector<int64_t>& stops) {
  EXPECT_EQ(run.train("whole", sets).outcome.reason, Reason::finished);
  for (const int64_t update : stops) {
    const TrainingOutcome o = run.train("pieces", sets, update).outcome;
    EXPECT_EQ(o.reason, Reason::interrupted);
    EXPECT_EQ(o.updates, update);
  }
  const TrainingOutcome o = run.train("pieces", sets).outcome;
  EXPECT_EQ(o.reason, Reason::finished);
  EXPECT_FALSE(o.was_over);
  expect_same_bits(run.bits("whole"), run.bits("pieces"));
}

// Update 4 ends an epoch, 6 and 12 validate, 5 and 15 save, 1 and 21 are next to the ends.
TEST_F(Resume, SameBitsAfterStops) { compare_with_whole(run, {}, {1, 4, 5, 6, 7, 12, 15, 21}); }

TEST_F(Resume, SameBitsWithAccumulation) { compare_with_whole(run, {"train.accumulate=2"}, {1, 2, 3, 6, 11}); }

TEST_F(Resume, SameBitsWhenTheBestAreAveraged) {
  compare_with_whole(run, {"train.validate=3u", "train.average=2", "train.average_of=best", "train.metric=loss"},
                     {2, 3, 10});
}

TEST_F(Resume, SameBitsWithoutValidations) { compare_with_whole(run, {"train.validate=0u"}, {3, 5, 17}); }

TEST_F(Resume, SameBitsByEpochsAndTokens) {
  compare_with_whole(run, {"train.validate=0.5e", "train.save=1500t", "train.stop=3e"}, {3, 4, 7});
}

TEST_F(Resume, SameBitsForALateEndAndASlope) {
  compare_with_whole(run, {"train.schedule=cosine", "train.clip=0.5"}, {9});
}

TEST_F(Resume, SameBitsForASlopeToAnEndInEpochsOrTokens) {
  compare_with_whole(run, {"train.schedule=cosine", "train.stop=4e"}, {1, 3, 9});
  std::filesystem::remove_all(run.folder / "whole");
  std::filesystem::remove_all(run.folder / "pieces");
  compare_with_whole(run, {"train.schedule=linear", "train.stop=9000t", "train.warmup=0"}, {1, 4});
}

TEST_F(Resume, SameBitsWithoutPatience) {
  const Sets sets{"train.validate=1u", "train.patience=2", "train.learning_rate=0.5", "train.metric=loss"};
  EXPECT_EQ(run.train("whole", sets).outcome.reason, Reason::out_of_patience);
  run.train("pieces", sets, 1);
  run.train("pieces", sets, 2);
  EXPECT_EQ(run.train("pieces", sets).outcome.reason, Reason::out_of_patience);
  expect_same_bits(run.bits("whole"), run.bits("pieces"));
}

/// Whatever a run has too much of is on the disk while this lives.
struct SmallMemory {
  SmallMemory() { limit_corpus_in_memory(500); }
  ~SmallMemory() { limit_corpus_in_memory(0); }
};

TEST_F(Resume, SameBitsFromACorpusOnTheDisk) {
  const Sets sets{"data.valid=[]"};  // some are held out
  run.train("memory", sets);
  const SmallMemory small;
  compare_with_whole(run, sets, {3, 12});
  expect_same_bits(run.bits("memory"), run.bits("pieces"));
  EXPECT_TRUE(std::filesystem::exists(run.folder / "pieces/corpus/tokens.bin"));
}

TEST_F(Resume, ACorpusOnTheDiskThatWasEditedIsRefused) {
  const SmallMemory small;
  run.train("out", {}, 7);
  put_letters(run.folder / "train", 600, 10, 3);
  const std::string said = attune::error_of([&] { run.train("out"); }, ErrorKind::data);
  EXPECT_TRUE(said.starts_with("the training data is not what the run in ")) << said;
  put_letters(run.folder / "train", 600, 10, 1);
  EXPECT_EQ(run.train("out").outcome.reason, Reason::finished);
}

TEST_F(Resume, AMistakeLeavesNoFolderThoughTheCorpusWentToTheDisk) {
  const SmallMemory small;
  EXPECT_THROW(run.train("out", {"data.valid=[\"none.in\", \"none.out\"]"}), Error);
  EXPECT_FALSE(std::filesystem::exists(run.folder / "out"));
}

TEST_F(Resume, SameBitsForAnyNumberOfThreads) {
  const Sets sets{"train.accumulate=2"};
  run.train("1", sets);
  const auto one = run.bits("1");
  for (const int threads : {2, 3, 4}) {
    run.train(std::to_string(threads), sets, 7, threads);  // and after a resumption with another number of them
    run.train(std::to_string(threads), sets, 0, 5 - threads);
    expect_same_bits(one, run.bits(std::to_string(threads)));
  }
}

TEST_F(Resume, ALongerRunGoesOnWithTheSameWeights) {
  run.train("whole");
  run.train("longer", {"train.stop=10u"});
  const auto r = run.train("longer");
  EXPECT_NE(r.log.find("going on from update 10"), std::string::npos) << r.log;
  EXPECT_EQ(run.bits("whole").at("last checkpoint model.safetensors"),
            run.bits("longer").at("last checkpoint model.safetensors"));
}

TEST_F(Resume, AnEarlierEndStillLeavesAModel) {
  run.train("out", {}, 4);
  const TrainingOutcome o = run.train("out", {"train.stop=3u"}).outcome;
  EXPECT_EQ(o.updates, 4);
  open_model(run.folder / "out");
}

/// What is advised is not refused: a rate that came down to the end can't go on from there.
TEST_F(Resume, WhatMakesAFinishedRunGoOnGoesByItsSchedule) {
  for (const std::string schedule : {"constant", "cosine"}) {
    const std::string set = "train.schedule=" + schedule;
    run.train(schedule, {set});
    const std::string advice = run.train(schedule, {set}).outcome.to_go_on;
    EXPECT_TRUE(advice.starts_with(schedule == "constant" ? "raise train.stop" : "begin another with its weights"))
        << advice;
  }
}

TEST_F(Resume, ARunThatIsOverSaysSoAndIsLeftAlone) {
  run.train("out");
  const auto before = run.bits("out");
  const auto written = std::filesystem::last_write_time(run.folder / "out/model.safetensors");
  const std::string metrics = slurp(run.folder / "out/metrics.jsonl");
  const auto r = run.train("out");
  EXPECT_TRUE(r.outcome.was_over);
  EXPECT_EQ(r.outcome.updates, 22);
  EXPECT_NE(r.log.find("this run was over after 22 updates, and its model stays as it is"), std::string::npos) << r.log;
  EXPECT_EQ(written, std::filesystem::last_write_time(run.folder / "out/model.safetensors"));
  EXPECT_EQ(metrics, slurp(run.folder / "out/metrics.jsonl"));
  expect_same_bits(before, run.bits("out"));
  // A model that was lost is made again.
  write_file(run.folder / "out/model.safetensors", "broken");
  EXPECT_FALSE(run.train("out").outcome.was_over);
  expect_same_bits(before, run.bits("out"));
}

TEST_F(Resume, ADamagedCheckpointIsToldAndTheOneBeforeUsed) {
  run.train("whole");
  for (const bool truncate : {false, true}) {
    const std::string out = truncate ? "cut" : "flipped";
    run.train(out, {}, 4);  // before any validation: the save before is all there is
    run.train(out, {}, 9);
    const std::string path = run.folder / out + "/checkpoints/step-00000009/optimizer.safetensors";
    std::string content = slurp(path);
    if (truncate)
      content.resize(content.size() / 2);
    else
      content[content.size() / 2] ^= 1;
    write_file(path, content);
    const auto r = run.train(out, {}, 8);
    EXPECT_NE(r.log.find("passed over a damaged checkpoint, going on from update 6"), std::string::npos) << r.log;
    EXPECT_NE(r.log.find("step-00000009/optimizer.safetensors"), std::string::npos) << r.log;
    EXPECT_EQ(checkpoints(run.folder / out).back().step, 8) << "the damaged one is still in the way";
    EXPECT_NE(run.train(out).log.find("going on from update 8"), std::string::npos);
    expect_same_bits(run.bits("whole"), run.bits(out));
  }
}

TEST_F(Resume, MetricsTellEveryUpdateOnce) {
  const Sets sets{"train.validate=2u"};
  run.train("whole", sets);
  run.train("pieces", sets, 5);
  // As if it had been killed after update 6 was told, in the middle of a line.
  std::ofstream(run.folder / "pieces/metrics.jsonl", std::ios::app) << "{\"update\":6,\"valid_loss\":1}\n{\"upd";
  std::ofstream(run.folder / "pieces/train.log", std::ios::app) << "half a li";
  run.train("pieces", sets);
  const auto told = [&](const char* out) {
    std::vector<std::pair<int64_t, double>> all;
    std::istringstream lines(slurp(run.folder / out + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto j = nlohmann::json::parse(line);
      if (j.contains("valid_loss")) all.emplace_back(j["update"], j["valid_loss"]);
    }
    return all;
  };
  EXPECT_EQ(told("whole").size(), 11u);
  EXPECT_EQ(told("whole"), told("pieces"));
  EXPECT_NE(slurp(run.folder / "pieces/train.log").find("half a li\n["), std::string::npos);
}

}  // namespace
}  // namespace attune::test
