// What a run refuses, what it makes of odd corpora and recipes, and what becomes of it when writing fails.
#include "attune/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/files.h"
#include "checks.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;
using Reason = TrainingOutcome::Reason;
using Call = FileFault::Call;
using attune::error_of;

struct TrainerTest : testing::Test {
  SmallRun run;
  ~TrainerTest() override { inject_file_fault({}); }
  /// What training in `out` fails with.
  std::string trouble(ErrorKind kind, const std::string& out, const Sets& sets = {}) {
    return error_of([&] { run.train(out, sets); }, kind);
  }
};

TEST_F(TrainerTest, AnotherRecipeIsRefusedAndSaysWhatChanged) {
  run.train("out", {}, 3);
  const std::string text = trouble(ErrorKind::recipe, "out", {"model.d_ff=32", "train.seed=2"});
  EXPECT_NE(text.find("holds a run of another recipe: model.d_ff was 16, is 32; train.seed was 1, is 2\n  fix: "),
            std::string::npos)
      << text;
  // What does not decide about the weights may change.
  EXPECT_EQ(run.train("out", {"train.stop=6u", "train.save=9u", "train.keep=5", "train.patience=7"}).outcome.updates,
            6);
  // A schedule that comes down until the end does depend on it.
  run.train("slope", {"train.schedule=linear"}, 3);
  EXPECT_NE(trouble(ErrorKind::recipe, "slope", {"train.schedule=linear", "train.stop=30u"}).find("train.stop was"),
            std::string::npos);
}

/// A setting of no use is told when a run begins; one that goes on is asked only whether it is the same.
TEST_F(TrainerTest, WhatHasNoUseIsRefusedAtTheBeginAlone) {
  const Sets sets{"model.ngrams=3"};
  EXPECT_NE(trouble(ErrorKind::recipe, "out", sets).find("--set: model.ngrams = 3: only"), std::string::npos);
  run.train("out", {}, 3);
  const std::string going_on = trouble(ErrorKind::recipe, "out", sets);
  EXPECT_NE(going_on.find("another recipe: model.ngrams was 2, is 3"), std::string::npos) << going_on;
}

TEST_F(TrainerTest, OtherDataIsRefused) {
  run.train("out", {}, 3);
  const std::string train = slurp(run.folder / "train.in"), valid = slurp(run.folder / "valid.out");
  put(run.folder / "train.in", "a" + train.substr(1, train.size() - 3) + "h\n");
  EXPECT_TRUE(trouble(ErrorKind::data, "out").starts_with("the training data is not what the run in "));
  put(run.folder / "train.in", train);
  put(run.folder / "valid.out", "a b c d e f g\n" + valid.substr(valid.find('\n') + 1));
  EXPECT_TRUE(trouble(ErrorKind::data, "out").starts_with("the validation data is not what the run in "));
  put(run.folder / "valid.out", valid);
  // The same text elsewhere is the same data.
  fs::rename(run.folder / "train.in", run.folder / "elsewhere.in");
  const Sets moved{"data.train=[\"" + run.folder / "elsewhere.in" + "\", \"" + run.folder / "train.out" + "\"]"};
  EXPECT_EQ(run.train("out", moved).outcome.updates, 22);
}

TEST_F(TrainerTest, FreshStartsAnew) {
  run.train("whole");
  run.train("out", {"train.seed=7"});
  fs::create_directories(run.folder / "out/.next-model");
  fs::copy_file(run.folder / "out/manifest.json", run.folder / "out/.next-model/manifest.json");
  const auto r = run.train("out", {}, 0, 1, true);
  EXPECT_EQ(r.log.find("going on"), std::string::npos);
  expect_same_bits(run.bits("whole"), run.bits("out"));
  // A model without checkpoints is somebody's: only --fresh replaces it.
  fs::remove_all(run.folder / "out/checkpoints");
  EXPECT_NE(trouble(ErrorKind::usage, "out").find("holds a model, but no checkpoints to go on from"),
            std::string::npos);
}

TEST_F(TrainerTest, TheFolderOfARunStandsForItsRecipe) {
  run.train("whole");
  run.train("out", {}, 7);
  fs::rename(run.recipe(), run.folder / "elsewhere.toml");  // the run knows where its data is
  const std::string out = run.folder / "out";
  EXPECT_EQ(Trainer({.recipe = out, .out = "", .sets = {}, .threads = 1}).run().reason, Reason::finished);
  expect_same_bits(run.bits("whole"), run.bits("out"));
  Trainer longer({.recipe = out + "/", .out = "", .sets = {"train.stop=24u"}, .threads = 1});
  EXPECT_EQ(longer.run().updates, 24);
  // To start anew, here or elsewhere, is another way to use it.
  EXPECT_EQ(
      Trainer({.recipe = out, .out = run.folder / "copy", .sets = {"train.stop=22u"}, .threads = 1}).run().updates, 22);
  expect_same_bits(run.bits("whole"), run.bits("copy"));
  EXPECT_EQ(Trainer({.recipe = out, .out = "", .sets = {"train.stop=22u"}, .fresh = true, .threads = 1}).run().updates,
            22);
  expect_same_bits(run.bits("whole"), run.bits("out"));
}

TEST_F(TrainerTest, AFolderWithoutARunIsRefused) {
  const auto trouble_of = [&](const std::string& folder) {
    return error_of([&] { Trainer({.recipe = folder, .out = "", .sets = {}}); }, ErrorKind::usage);
  };
  run.train("out");
  const std::string out = run.folder / "out";
  EXPECT_TRUE(
      trouble_of(run.folder.path()).ends_with("there is no run in it\n  fix: give a recipe; `attune new` writes one"));
  EXPECT_TRUE(trouble_of(checkpoint_path(out, 22)).find("is one checkpoint of a run\n  fix: name the run's folder") !=
              std::string::npos);
  fs::remove_all(out + "/checkpoints");
  EXPECT_NE(trouble_of(out).find("holds a model, but no checkpoints to go on from\n  fix: to train it further, give a "
                                 "recipe and --set train.start=" +
                                 out),
            std::string::npos);
}

TEST_F(TrainerTest, TwoRunsInOneFolderAreRefused) {
  std::string second;
  Trainer first({.recipe = run.recipe(), .out = run.folder / "out", .sets = {}, .threads = 1});
  TrainingEvents events;
  events.on_update = [&](const TrainingStatus& s) {
    if (s.update == 2) second = trouble(ErrorKind::usage, "out");
  };
  EXPECT_EQ(first.run(events).reason, Reason::finished);
  EXPECT_NE(second.find("another run is training in " + run.folder / "out"), std::string::npos) << second;
}

TEST_F(TrainerTest, AMistakeLeavesNoTrace) {
  EXPECT_NE(trouble(ErrorKind::recipe, "out", {"train.batch_tokens=8"}).find("train.batch_tokens = 8 is less than"),
            std::string::npos);
  EXPECT_NE(trouble(ErrorKind::recipe, "out", {"train.schedule=cosine", "train.stop=3m"})
                .find("--set: train.schedule = \"cosine\" comes down until the end, and train.stop = \"3m\""),
            std::string::npos);
  trouble(ErrorKind::data, "out", {"data.max_length=1", "data.overlong=error"});
  trouble(ErrorKind::data, "out", {"data.train=[\"no\", \"such\"]"});
  EXPECT_FALSE(fs::exists(run.folder / "out"));
}

TEST_F(TrainerTest, NothingLeftOfTheCorpusIsAnError) {
  put(run.folder / "train.in", "a b c d e\na b c\n");
  put(run.folder / "train.out", "a b c d e\na b c\n");
  EXPECT_NE(trouble(ErrorKind::data, "out", {"data.max_length=2"}).find("data.train: no pair of lines is left of 2"),
            std::string::npos);
  put(run.folder / "valid.in", "\n\n");
  put(run.folder / "valid.out", "a\nb\n");
  EXPECT_NE(trouble(ErrorKind::data, "out").find("data.valid: no pair of lines is left of 2"), std::string::npos);
}

TEST_F(TrainerTest, OnePairIsEnough) {
  put(run.folder / "train.in", "a b c\n");
  put(run.folder / "train.out", "a b c\n");
  const TrainingOutcome o = run.train("out", {"data.valid=[]", "train.stop=8u", "train.validate=3u"}).outcome;
  EXPECT_EQ(o.updates, 8);
  EXPECT_FALSE(o.has_score);
  EXPECT_EQ(o.averaged, 2) << "updates 6 and 8: 3 is early";
  open_model(run.folder / "out");
  // Without an average either, the last one is the model; a second start knows.
  run.train("last", {"data.valid=[]", "train.stop=1u", "train.average=1", "train.keep=1"});
  open_model(run.folder / "last");
  EXPECT_TRUE(
      run.train("last", {"data.valid=[]", "train.stop=1u", "train.average=1", "train.keep=1"}).outcome.was_over);
}

TEST_F(TrainerTest, EndsByEveryUnit) {
  EXPECT_EQ(run.train("u", {"train.stop=1u"}).outcome.updates, 1);
  EXPECT_EQ(run.train("e", {"train.stop=2e"}).outcome.updates, 8);
  EXPECT_EQ(run.train("t", {"train.stop=1100t"}).outcome.updates, 2);
  // Of time, the first update that reaches it is the last.
  Trainer trainer({.recipe = run.recipe(), .out = run.folder / "m", .sets = {"train.stop=0.001m", "train.save=1m"}});
  std::vector<double> seconds;
  TrainingEvents events;
  events.on_update = [&](const TrainingStatus& s) { seconds.push_back(s.seconds); };
  const TrainingOutcome o = trainer.run(events);
  EXPECT_EQ(o.reason, Reason::finished);
  ASSERT_EQ(std::ssize(seconds), o.updates);
  EXPECT_GE(seconds.back(), 0.06);
  for (size_t i = 0; i + 1 < seconds.size(); ++i) EXPECT_LT(seconds[i], 0.06);
}

TEST_F(TrainerTest, KeepsWhatTheRecipeSays) {
  const auto steps = [&](const std::string& out) {
    std::vector<int64_t> all;
    for (const Checkpoint& c : checkpoints(run.folder / out)) all.push_back(c.step);
    return all;
  };
  run.train("keep", {"train.save=1u"});
  EXPECT_EQ(steps("keep"), (std::vector<int64_t>{12, 18, 21, 22}));  // three validated, and one to fall back to
  EXPECT_EQ(run.train("one", {"train.keep=1", "train.average=1"}).outcome.averaged, 0);
  EXPECT_EQ(steps("one"), (std::vector<int64_t>{18, 20, 22})) << "18 is the best one";
}

TEST_F(TrainerTest, TheBestIsWrittenAgainWhereItIsMissing) {
  const Sets best{"train.validate=1u", "train.metric=loss", "train.average=1",      "train.keep=22",
                  "train.warmup=10",   "train.stop=12u",    "train.learning_rate=3"};
  Sets mean = best;
  mean[2] = "train.average=3";
  run.train("out", best);
  const std::string right = slurp(run.folder / "out/model.safetensors");
  fs::remove(run.folder / "out/model.safetensors");
  run.train("out", best);
  EXPECT_TRUE(slurp(run.folder / "out/model.safetensors") == right);
  EXPECT_TRUE(run.train("out", best).outcome.was_over);
  const TrainingOutcome again = run.train("out", mean).outcome;  // it is judged anew, and as good as it was
  EXPECT_FALSE(again.was_over);
  EXPECT_EQ(again.judged.size(), 3u);
  EXPECT_TRUE(slurp(run.folder / "out/model.safetensors") == right);
  run.train("out", best);
  EXPECT_TRUE(slurp(run.folder / "out/model.safetensors") == right);
}

TEST_F(TrainerTest, WhatGoesByTheClockIsNotAveraged) {
  const auto r = run.train("out", {"train.validate=0u", "train.save=0.001m"});
  EXPECT_EQ(r.outcome.averaged, 0);
  EXPECT_NE(r.log.find("nothing will be averaged"), std::string::npos) << r.log;
}

TEST_F(TrainerTest, TheBestByLossAreThoseOfTheLeastLoss) {
  // The rate is far too high after the first updates: the early ones are the best.
  const Sets sets{"train.validate=1u", "train.metric=loss", "train.average=2",       "train.average_of=best",
                  "train.stop=10u",    "train.warmup=10",   "train.learning_rate=3", "train.keep=2"};
  const TrainingOutcome o = run.train("out", sets).outcome;
  std::vector<std::pair<double, int64_t>> losses;
  std::istringstream lines(slurp(run.folder / "out/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto j = nlohmann::json::parse(line);
    if (j.contains("best")) losses.emplace_back(j["valid_loss"], j["update"]);
  }
  ASSERT_EQ(losses.size(), 10u);
  std::sort(losses.begin(), losses.end());
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(fs::exists(fmt::format("{}/out/checkpoints/step-{:08}", run.folder.path(), losses[i].second)))
        << losses[i].second;
  const auto mean = std::ranges::find(o.judged, FinalWeights::Kind::mean, &FinalWeights::kind);
  ASSERT_NE(mean, o.judged.end());
  EXPECT_EQ(mean->updates, (std::vector<int64_t>{std::min(losses[0].second, losses[1].second),
                                                 std::max(losses[0].second, losses[1].second)}));
}

TEST_F(TrainerTest, ValidationSentencesMayBeLongerThanTheBudget) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "a ";
  put(run.folder / "valid.in", text + "\n");
  put(run.folder / "valid.out", text + "\n");
  EXPECT_TRUE(run.train("out", {"train.batch_tokens=20", "train.stop=4u"}).outcome.has_score);
}

TEST_F(TrainerTest, ADivergedRunKeepsItsLastGoodCheckpoint) {
  const Sets sets{"train.learning_rate=1e30", "train.warmup=0", "train.save=1u", "train.validate=0u"};
  EXPECT_NE(trouble(ErrorKind::diverged, "out", sets).find("the run has diverged\n  fix: lower train.learning_rate"),
            std::string::npos);
  for (const Checkpoint& c : checkpoints(run.folder / "out")) {
    const SafetensorsFile file(c.path + "/model.safetensors");
    for (const StoredTensor& t : file.tensors()) {
      std::vector<float> values(static_cast<size_t>(t.size()));
      file.read(t, values.data());
      for (const float x : values) ASSERT_TRUE(std::isfinite(x)) << c.path << " " << t.name;
    }
  }
}

TEST_F(TrainerTest, EveryFailureToWriteIsToldAndTheRunGoesOn) {
  const Sets sets{"train.stop=3u", "train.save=1u", "train.validate=2u", "train.average=2", "train.keep=2"};
  run.train("whole", sets);
  const auto whole = run.bits("whole");
  for (const Call call : {Call::open, Call::write, Call::sync, Call::rename}) {
    // All of them would take minutes: primes meet every kind of file in the course of a run.
    int failures = 0;
    for (const int n : {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 79, 83}) {
      const std::string out = fmt::format("out-{}-{}", static_cast<int>(call), n);
      Trainer trainer({.recipe = run.recipe(), .out = run.folder / out, .sets = sets, .threads = 1});
      inject_file_fault({.call = call, .nth = n, .error = n % 4 == 1 ? ENOSPC : EIO});
      std::string text;
      try {
        trainer.run();
      } catch (const Error& e) {
        text = e.what();
        EXPECT_EQ(e.kind(), ErrorKind::io) << text;
        EXPECT_NE(text.find(run.folder.path()), std::string::npos) << "no path: " << text;
        ++failures;
      }
      inject_file_fault({});
      run.train(out, sets);
      expect_same_bits(whole, run.bits(out));
      fs::remove_all(run.folder / out);
      if (text.empty()) break;  // there are fewer such calls
    }
    EXPECT_GE(failures, 8) << static_cast<int>(call);
  }
}

TEST_F(TrainerTest, FailuresOfTheLogsAreTold) {
  run.train("out", {}, 3);
  const std::string log = run.folder / "out/train.log", metrics = run.folder / "out/metrics.jsonl";
  fs::remove(log);
  fs::create_symlink("/dev/full", log);
  EXPECT_TRUE(trouble(ErrorKind::io, "out").starts_with("cannot write " + log + ": No space left on device ("));
  fs::remove(log);
  fs::remove(metrics);
  fs::create_directory(metrics);
  EXPECT_EQ(trouble(ErrorKind::io, "out"), "cannot write " + metrics + ": Is a directory");
  fs::remove(metrics);
  EXPECT_EQ(run.train("out").outcome.updates, 22);
}

}  // namespace
}  // namespace attune::test
