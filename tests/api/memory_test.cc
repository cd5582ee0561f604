// train.memory, and limits of the system: what does not fit is refused before anything is written, and ends with
// exit 8.
#include <gtest/gtest.h>

#include "api/language_run.h"
#include "api/small_run.h"
#include "checkpoint/manifest.h"
#include "checks.h"
#include "places.h"
#include "recipe/settings.h"

namespace attune::test {
namespace {

struct Memory : testing::Test {
  SmallRun run;
  Sets wide{"model.d_model=128", "model.d_ff=256", "train.stop=3u", "train.save=2u", "train.validate=0u"};

  Sets with(const Sets& more) const {
    Sets all = wide;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static int64_t planned(const SmallRun& run, const Sets& sets, const std::string& out) {
    Trainer trainer({.recipe = run.recipe(), .out = run.folder / out, .sets = sets, .threads = 2});
    int64_t bytes = 0;
    TrainingEvents events;
    events.on_plan = [&](const TrainingPlan& p) { bytes = p.memory; };
    events.on_update = [&](const TrainingStatus&) { trainer.stop(); };
    trainer.run(events);
    return bytes;
  }
  static int64_t megabytes(int64_t bytes) { return (bytes >> 20) + 1; }
};

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TEST_F(Memory, PicksTheBudget) {
  const auto chosen = [&](const std::string& out) {
    return load_recipe(checkpoints(run.folder / out).back().path + "/recipe.toml").train.batch_tokens.tokens;
  };
  run.train("all", with({"train.batch_tokens=auto", "train.memory=1G"}), 1, 2);
  EXPECT_EQ(chosen("all"), 4096) << "no more than there are";
  put_letters(run.folder / "train", 3000, 10, 1);
  const int64_t four = planned(run, with({"train.batch_tokens=4096"}), "four");
  const Sets sets = with({"train.batch_tokens=auto", fmt::format("train.memory={}M", megabytes(four) + 4)});
  const auto r = run.train("out", sets, 1, 2);
  EXPECT_NE(r.log.find("train.batch_tokens = "), std::string::npos) << r.log;
  EXPECT_GE(chosen("out"), 4096 - 512);
  EXPECT_LE(chosen("out"), 8192);
  EXPECT_EQ(chosen("out") % 256, 0);
  // It is the run's from then on: what fits may be more by then.
  const int64_t before = chosen("out");
  EXPECT_EQ(run.train("out", with({"train.batch_tokens=auto", "train.memory=1G"}), 2).outcome.updates, 2);
  EXPECT_EQ(chosen("out"), before);
}

TEST_F(Memory, WhatDoesNotFitIsRefused) {
  const int64_t small = planned(run, with({"train.batch_tokens=1024"}), "small");
  const int64_t large = planned(run, with({"train.batch_tokens=16384"}), "large");
  const int64_t limit = megabytes((small + large) / 2);
  const Sets sets = with({"train.batch_tokens=16384", fmt::format("train.memory={}M", limit)});
  const std::string text = error_of([&] { run.train("out", sets, 0, 2); }, ErrorKind::memory);
  EXPECT_NE(text.find("training with train.batch_tokens = 16384 needs "), std::string::npos) << text;
  EXPECT_FALSE(std::filesystem::exists(run.folder / "out"));
  const size_t at = text.find("fix: set train.batch_tokens = ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string fits = text.substr(at + 29, text.find(',', at) - at - 29);
  // What this process holds already counts, and that varies by a few megabytes.
  const Sets fitting = with({"train.batch_tokens=" + fits, fmt::format("train.memory={}M", limit + 16)});
  EXPECT_EQ(run.train("out", fitting, 1, 2).outcome.updates, 1);
  EXPECT_NE(
      error_of([&] { run.train("tiny", with({"train.memory=1M"})); }, ErrorKind::memory).find("even with batches"),
      std::string::npos);
}

/// Half of what it needs, from the system: exit 8 and a sentence, and the checkpoint from before can be gone on from.
TEST_F(Memory, ALimitOfTheSystem) {
  const Sets sets = with({"train.batch_tokens=16384", "train.stop=40u"});
  run.train("out", sets, 3);
  const auto attune = [&](int64_t megabytes) {
    std::string command = fmt::format("ulimit -v {}; exec '{}' train '{}' --out '{}' --threads 2 --quiet",
                                      megabytes << 10, program_path(), run.recipe(), run.folder / "out");
    for (const std::string& s : sets) command += " --set '" + s + "'";
    return run_program("/bin/sh", {"-c", command});
  };
  int refused = 0;
  for (const int64_t megabytes : {30, 60, 90, 120, 150, 180, 210}) {
    const Outcome o = attune(megabytes);
    if (o.code == 0) break;
    if (o.code == 127 || o.err.find("cannot allocate memory") != std::string::npos) continue;  // not even loaded
    ++refused;
    EXPECT_EQ(o.code, 8) << megabytes << " " << o.err;
    EXPECT_NE(o.err.find("\n  fix: "), std::string::npos) << o.err;
    EXPECT_NO_THROW(verify_manifest(checkpoints(run.folder / "out").back().path));
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(run.train("out", sets).outcome.updates, 40);
}

#endif

TEST_F(Memory, ComputingLayersTwiceMayComeAndGo) {
  run.train("whole");
  run.train("pieces", {"train.recompute=true"}, 7);
  run.train("pieces", {}, 11, 2);
  run.train("pieces", {"train.recompute=true"});
  auto whole = run.bits("whole"), pieces = run.bits("pieces");
  for (const char* told : {"recipe.toml", "manifest.json"}) whole.erase(told);
  expect_same_bits(whole, pieces);
}

TEST(MemoryTexts, ComputingLayersTwiceWithATextsMemory) {
  const LanguageRun run;
  const Sets sets{"model.attention={kind = \"transformer-xl\", memory = 20}", "model.position=transformer-xl",
                  "model.layer_dropout=0.2", "model.decoder_layers=2"};
  run.train("whole", sets);
  Sets twice = sets;
  twice.push_back("train.recompute=true");
  run.train("twice", twice);
  EXPECT_TRUE(run.bits("whole").at("model.safetensors") == run.bits("twice").at("model.safetensors"));
}

}  // namespace
}  // namespace attune::test
