// Gradients that are not numbers: skipped, counted and named; ten in a row go back to the last good state at half the
// rate, and when that does not help, the run ends with advice.
#include <gtest/gtest.h>

#include "base/files.h"
#include "checks.h"
#include "run/language_run.h"
#include "run/small_run.h"
#include "train/learner.h"

namespace attune::test {
namespace {

using Reason = TrainingOutcome::Reason;

constexpr const char* kParameter = "decoder.0.self.key.weight";

struct Skipped : testing::Test {
  SmallRun run;
  ~Skipped() override { inject_gradient_fault({}); }

  nlohmann::json state(const std::string& out) const {
    return nlohmann::json::parse(slurp(checkpoints(run.folder / out).back().path + "/trainer.json"));
  }
  std::string weights(const std::string& out) const {
    return slurp(checkpoints(run.folder / out).back().path + "/model.safetensors");
  }
};

TEST_F(Skipped, OneIsToldAndTheRunGoesOn) {
  const auto plain = run.train("plain");
  inject_gradient_fault({8, 9, kParameter});
  const auto r = run.train("out");
  EXPECT_EQ(r.outcome.reason, Reason::finished);
  EXPECT_EQ(r.outcome.updates, 22);
  EXPECT_NE(r.log.find("update 8 was skipped: the gradient of decoder.0.self.key.weight is not a number (1 skipped so "
                       "far)\n"),
            std::string::npos)
      << r.log;
  EXPECT_EQ(state("out")["skipped"], 1);
  EXPECT_EQ(state("out")["steps"], 21);
  EXPECT_EQ(state("plain")["steps"], 22);
  EXPECT_TRUE(weights("plain") != weights("out"));
  EXPECT_NE(slurp(run.folder / "out/metrics.jsonl")
                .find("{\"update\":8,\"skipped\":1,\"not_a_number\":\"decoder.0.self.key.weight\"}"),
            std::string::npos);
  EXPECT_EQ(slurp(run.folder / "out/metrics.jsonl").find("null"), std::string::npos);
}

/// Skipping an update is as if its batch had not been there: the weights after it are those before it.
TEST_F(Skipped, LeavesTheWeightsAsTheyWere) {
  for (const char* sets : {"train.optimizer=adam", "train.optimizer=adafactor", "train.ema=0.9"}) {
    const std::string name = sets;
    inject_gradient_fault({});
    run.train(name + "-before", {sets, "train.stop=7u"});
    inject_gradient_fault({8, 10, kParameter});
    run.train(name + "-after", {sets, "train.stop=9u"});
    for (const char* file : {"/model.safetensors", "/optimizer.safetensors"}) {
      const auto content = [&](const std::string& out) {  // without the metadata, which tells the update
        const std::string all = slurp(checkpoints(run.folder / out).back().path + file);
        return all.substr(all.size() / 2);
      };
      EXPECT_TRUE(content(name + "-before") == content(name + "-after")) << name << file;
    }
  }
}

TEST_F(Skipped, SameBitsAfterStopsAndOnAnyThreads) {
  inject_gradient_fault({5, 9, kParameter});
  run.train("whole");
  for (const int64_t stop : {4, 5, 6, 8, 9, 13}) run.train("pieces", {}, stop, 1 + static_cast<int>(stop % 3));
  run.train("pieces");
  expect_same_bits(run.bits("whole"), run.bits("pieces"));
  EXPECT_EQ(state("whole")["skipped"], 4);
}

TEST_F(Skipped, TenInARowGoBackAtHalfTheRate) {
  inject_gradient_fault({9, 100, kParameter, 0.75});  // until the rate is halved
  const auto r = run.train("whole");
  EXPECT_EQ(r.outcome.reason, Reason::finished);
  EXPECT_NE(
      r.log.find("10 updates in a row were skipped (the gradient of decoder.0.self.key.weight is not a number) at "
                 "update 18: back to update 6, from there on at 0.5 of the learning rate"),
      std::string::npos)
      << r.log;
  EXPECT_EQ(state("whole")["skipped"], 10);
  EXPECT_EQ(state("whole")["steps"], 22);
  EXPECT_EQ(state("whole")["rate_scale"], 0.5);
  // Every update is told once.
  std::map<int64_t, int> told;
  std::istringstream lines(slurp(run.folder / "whole/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto j = nlohmann::json::parse(line);
    if (j.contains("valid_loss")) ++told[j["update"]];
  }
  for (const auto& [update, times] : told) EXPECT_EQ(times, 1) << update;
  // Stops before, in the middle of it and after it change nothing.
  for (const int64_t stop : {7, 8, 10, 15, 17}) {
    const TrainingOutcome o = run.train("pieces", {}, stop).outcome;
    EXPECT_EQ(o.updates, stop);
  }
  run.train("pieces", {}, 11, 2);  // after going back
  run.train("pieces");
  expect_same_bits(run.bits("whole"), run.bits("pieces"));
}

/// Without a checkpoint of the counters it goes back to the beginning: a run at half the rate.
TEST_F(Skipped, BackToTheBeginningIsARunAtHalfTheRate) {
  const Sets sets{"train.validate=22u", "train.save=30m", "train.average=1"};
  for (const bool ema : {false, true}) {
    const std::string name = ema ? "ema" : "plain";
    Sets with = sets;
    if (ema) with.push_back("train.ema=0.9");
    inject_gradient_fault({4, 100, kParameter, 0.75});
    run.train(name + "-back", with, 5);  // a checkpoint that is given up
    EXPECT_EQ(run.train(name + "-back", with).outcome.reason, Reason::finished);
    inject_gradient_fault({});
    with.push_back("train.learning_rate=5e-3");
    run.train(name + "-half", with);
    EXPECT_TRUE(weights(name + "-back") == weights(name + "-half")) << name;
  }
}

TEST_F(Skipped, WhatDoesNotHelpEndsWithAdvice) {
  inject_gradient_fault({9, 100, kParameter});
  const std::string text = error_of([&] { run.train("out"); }, ErrorKind::diverged);
  EXPECT_EQ(text,
            "10 updates in a row were skipped (the gradient of decoder.0.self.key.weight is not a number) at update "
            "18, at a learning rate of 0.00264, and again after going back to update 6: the run has diverged\n"
            "  fix: lower train.learning_rate, lengthen train.warmup or set train.clip = 1.0, and train with --fresh");
  EXPECT_EQ(checkpoints(run.folder / "out").back().step, 6);
  EXPECT_TRUE(latest_checkpoint(run.folder / "out")->damaged.empty());
  // Without the fault it goes on from there.
  inject_gradient_fault({});
  run.train("whole");
  run.train("out");
  expect_same_bits(run.bits("whole"), run.bits("out"));
}

TEST_F(Skipped, ALaterGoodStateIsAnotherChance) {
  inject_gradient_fault({3, 13, kParameter, 0.75});
  run.train("out", {}, 14);
  EXPECT_EQ(state("out")["rolled_back_to"], 0);
  EXPECT_EQ(state("out")["good_update"], 12);
  inject_gradient_fault({15, 25, kParameter, 0.4});
  const auto again = run.train("out", {"train.stop=40u"});
  EXPECT_EQ(again.outcome.reason, Reason::finished);
  EXPECT_NE(again.log.find("at 0.25 of the learning rate"), std::string::npos) << again.log;
}

/// A validation between skipped updates is never the best, and one that is no number is a reason to go back.
TEST_F(Skipped, AValidationThatIsNoNumberGoesBack) {
  const std::string text = error_of(
      [&] {
        run.train("out", {"train.learning_rate=1e30", "train.validate=3u"});
      },
      ErrorKind::diverged);
  EXPECT_TRUE(text.starts_with("the loss on the validation data is not a number at update 3")) << text;
  EXPECT_FALSE(std::filesystem::exists(run.folder / "out/model.safetensors"));
}

TEST_F(Skipped, ADamagedGoodStateIsPassedOver) {
  run.train("out", {}, 14);
  ASSERT_EQ(state("out")["good_update"], 12);
  write_file(checkpoint_path(run.folder / "out", 12) + "/model.safetensors", "damage");
  inject_gradient_fault({15, 100, kParameter, 0.75});
  const auto r = run.train("out", {"train.stop=40u"});
  EXPECT_NE(r.log.find("back to update 6, from there on at 0.5"), std::string::npos) << r.log;
  EXPECT_EQ(r.outcome.reason, Reason::finished);
}

/// What layers remember of a text may be no numbers either: it is forgotten with the update.
TEST(SkippedTexts, MemoriesAreForgotten) {
  const LanguageRun run;
  const Sets sets{"model.attention={kind = \"transformer-xl\", memory = 20}", "model.position=transformer-xl"};
  inject_gradient_fault({8, 9, "decoder.0.self.key.weight"});
  run.train("whole", sets);
  for (const int64_t stop : {7, 8, 9}) run.train("pieces", sets, stop);
  run.train("pieces", sets);
  inject_gradient_fault({});
  expect_same_bits(run.bits("whole"), run.bits("pieces"));
}

}  // namespace
}  // namespace attune::test
