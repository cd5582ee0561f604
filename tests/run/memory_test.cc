// train.memory, and limits of the system: what does not fit is refused before anything is written, and ends with
// exit 8.
#include <gtest/gtest.h>

#include "checkpoint/manifest.h"
#include "checks.h"
#include "places.h"
#include "recipe/settings.h"
#include "run/language_run.h"
#include "run/small_run.h"

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

/// The largest budget whose plan fits, but for a thirty-second of the limit: a number that can be computed, whatever
/// else the process holds.
TEST_F(Memory, PicksTheBudget) {
  const auto chosen = [&](const std::string& out) {
    return load_recipe(checkpoints(run.folder / out).back().path + "/recipe.toml").train.batch_tokens.tokens;
  };
  run.train("all", with({"train.batch_tokens=auto", "train.memory=1G"}), 1, 2);
  EXPECT_EQ(chosen("all"), 4096) << "no more than there are";
  put_letters(run.folder / "train", 3000, 10, 1);
  const auto plan = [&](int64_t tokens) {
    const std::string out = "budget-" + std::to_string(tokens);
    std::filesystem::remove_all(run.folder / out);
    return planned(run, with({"train.batch_tokens=" + std::to_string(tokens)}), out);
  };
  const int64_t four = plan(4096), limit = megabytes(four) + 4, room = (limit << 20) - (limit << 20) / 32;
  const Sets sets = with({"train.batch_tokens=auto", fmt::format("train.memory={}M", limit)});
  const auto r = run.train("out", sets, 1, 2);
  EXPECT_NE(r.log.find("train.batch_tokens = "), std::string::npos) << r.log;
  const int64_t picked = chosen("out");
  EXPECT_GE(picked, 4096);
  EXPECT_LE(picked, 8192);
  EXPECT_EQ(picked % 256, 0);
  EXPECT_LE(plan(picked), room);
  EXPECT_GT(plan(picked + 256), room);
  {
    const std::vector<char> much(64 << 20, 1);  // is none of the run's business
    EXPECT_EQ(plan(4096), four) << much.size();
    run.train("again", sets, 1, 2);
    EXPECT_EQ(chosen("again"), picked);
  }
  // It is the run's from then on: what fits may be more by then.
  EXPECT_EQ(run.train("out", with({"train.batch_tokens=auto", "train.memory=1G"}), 2).outcome.updates, 2);
  EXPECT_EQ(chosen("out"), picked);
}

TEST_F(Memory, WhatDoesNotFitIsRefused) {
  const int64_t small = planned(run, with({"train.batch_tokens=1024"}), "small");
  const int64_t large = planned(run, with({"train.batch_tokens=16384"}), "large");
  const std::string limit = fmt::format("train.memory={}M", megabytes((small + large) / 2));
  const std::string text = error_of(
      [&] {
        run.train("out", with({"train.batch_tokens=16384", limit}), 0, 2);
      },
      ErrorKind::memory);
  EXPECT_NE(text.find("training with train.batch_tokens = 16384 needs "), std::string::npos) << text;
  EXPECT_FALSE(std::filesystem::exists(run.folder / "out"));
  const size_t at = text.find("fix: set train.batch_tokens = ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string fits = text.substr(at + 29, text.find(',', at) - at - 29);
  EXPECT_EQ(run.train("out", with({"train.batch_tokens=" + fits, limit}), 1, 2).outcome.updates, 1);
  EXPECT_NE(
      error_of([&] { run.train("tiny", with({"train.memory=1M"})); }, ErrorKind::memory).find("even with batches"),
      std::string::npos);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// A run that is given what it said it would take, and a little for its threads' stacks, comes to its end; half of that
/// is not enough.
TEST_F(Memory, IsWhatWasSaid) {
  // Large enough that weights and activations outweigh the rest of the program.
  const Sets sets{"model.d_model=256", "model.d_ff=1024", "model.encoder_layers=3", "model.decoder_layers=3",
                  "train.stop=2u",     "train.save=9u",   "train.batch_tokens=2048"};
  const int64_t said = planned(run, sets, "said");
  EXPECT_GT(said, 50 << 20);
  const auto code = [&](const std::string& out, double share) {
    std::string command =
        fmt::format("ulimit -s 1024; ulimit -d {}; exec '{}' train '{}' --out '{}' --threads 2 --quiet",
                    static_cast<int64_t>(share * static_cast<double>(said)) >> 10, test::program_path(), run.recipe(),
                    run.folder / out);
    for (const std::string& s : sets) command += " --set '" + s + "'";
    return run_program("/bin/sh", {"-c", command}).code;
  };
  EXPECT_EQ(code("all", 1.15), 0);
  EXPECT_EQ(code("half", 0.5), 8);
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
  for (int64_t megabytes = 30;; megabytes += 15) {
    const Outcome o = attune(megabytes);
    if (o.code == 0) break;
    ASSERT_LT(megabytes, 2000) << o.err;
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
