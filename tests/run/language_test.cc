// Language models under the same trainer: they learn, resume and are judged as translations are.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "attune/model.h"
#include "attune/test.h"
#include "attune/translator.h"
#include "checks.h"
#include "recipe/settings.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

using Reason = TrainingOutcome::Reason;
using attune::error_of;

struct Language : testing::Test {
  LanguageRun run;
  std::string trouble(ErrorKind kind, const Sets& sets) {
    return error_of([&] { run.train("trouble", sets); }, kind);
  }
};

TEST_F(Language, LearnsWhatComesNext) {
  const Sets sets{"train.stop=450u", "train.validate=150u", "train.save=450u", "train.average=1"};
  std::vector<double> perplexities;
  Trainer trainer({.recipe = run.recipe(), .out = run.folder / "out", .sets = sets, .threads = 2});
  TrainingEvents events;
  TrainingPlan plan;
  events.on_plan = [&](const TrainingPlan& p) { plan = p; };
  events.on_validation = [&](const ValidationResult& v) {
    perplexities.push_back(v.perplexity);
    EXPECT_EQ(v.metric, "perplexity");
    EXPECT_EQ(v.score, v.perplexity);
    EXPECT_DOUBLE_EQ(v.perplexity, std::exp(v.loss));
    ASSERT_EQ(v.scores.size(), 1u);
    EXPECT_EQ(v.scores[0].first, "bits_per_character");
    EXPECT_DOUBLE_EQ(v.scores[0].second, v.loss / std::log(2));
    EXPECT_TRUE(v.samples.empty());
  };
  const TrainingOutcome o = trainer.run(events);
  ASSERT_EQ(perplexities.size(), 3u);
  EXPECT_LT(perplexities[2], perplexities[0]);
  EXPECT_LT(perplexities[2], 2.0) << "of 15 characters";
  EXPECT_EQ(o.task, "language");
  EXPECT_EQ(o.metric, "perplexity");
  EXPECT_DOUBLE_EQ(o.final_score, *std::min_element(perplexities.begin(), perplexities.end()));
  EXPECT_EQ(plan.unit, "tokens");
  EXPECT_EQ(plan.training_pairs, plan.tokens_per_epoch);
  EXPECT_GT(plan.training_pairs, 5000);
  EXPECT_EQ(plan.target_vocabulary, plan.source_vocabulary);
  // What test says of the same text is what validation said of the best.
  const TestReport report = test_model(run.folder / "out", {"data.test=[\"" + (run.folder / "valid.txt.gz") + "\"]"});
  ASSERT_EQ(report.scores.size(), 3u);
  EXPECT_EQ(report.scores[0].name, "perplexity");
  EXPECT_DOUBLE_EQ(report.scores[0].score, o.final_score);
  EXPECT_EQ(report.scores[1].name, "loss");
  EXPECT_EQ(report.scores[2].name, "bits_per_character");
  EXPECT_EQ(report.lines, 60);
  EXPECT_EQ(report.tokens, plan.validation_pairs);
  EXPECT_NE(report.scores[0].signature.find("|window:32|"), std::string::npos) << report.scores[0].signature;
}

TEST_F(Language, LinesAndSubwords) {
  const Sets sets{"data.stream=false", "tokenizer.kind=bpe", "tokenizer.size=40", "train.metric=loss"};
  TrainingPlan plan;
  Trainer trainer({.recipe = run.recipe(), .out = run.folder / "out", .sets = sets, .threads = 2});
  std::vector<double> losses;
  TrainingEvents events;
  events.on_plan = [&](const TrainingPlan& p) { plan = p; };
  events.on_validation = [&](const ValidationResult& v) {
    losses.push_back(v.loss);
    ASSERT_EQ(v.scores.size(), 1u);
    EXPECT_EQ(v.scores[0].first, "bits_per_character");
    EXPECT_LT(v.scores[0].second, v.loss / std::numbers::ln2) << "a piece has more characters than one";
  };
  const TrainingOutcome o = trainer.run(events);
  EXPECT_EQ(plan.unit, "lines");
  EXPECT_LT(plan.training_pairs, 500) << "empty lines are no examples";
  EXPECT_LT(losses.back(), losses.front());
  EXPECT_EQ(o.judged.size(), 3u) << "the best one, the mean of three, that of two";
  const ModelDescription d = describe_model(run.folder / "out");
  EXPECT_EQ(d.task, "language");
  EXPECT_EQ(d.shape, "decoder");
  EXPECT_EQ(d.encoder_layers, 0);
  EXPECT_EQ(d.source_vocabulary, 0);
  EXPECT_EQ(d.target_vocabulary, 40);
  EXPECT_GE(d.best, 0);
}

/// One go against stops at all these updates.
void compare_with_stops(const SmallRun& run, const Sets& sets, const std::vector<int64_t>& stops) {
  EXPECT_EQ(run.train("whole", sets).outcome.reason, Reason::finished);
  for (const int64_t update : stops) EXPECT_EQ(run.train("pieces", sets, update).outcome.updates, update);
  EXPECT_EQ(run.train("pieces", sets).outcome.reason, Reason::finished);
  expect_same_bits(run.bits("whole"), run.bits("pieces"));
}

TEST_F(Language, SameBitsAfterStops) { compare_with_stops(run, {}, {1, 5, 6, 7, 12, 21}); }
TEST_F(Language, SameBitsAfterStopsWithAccumulation) { compare_with_stops(run, {"train.accumulate=2"}, {1, 3, 11}); }
TEST_F(Language, SameBitsAfterStopsOfLines) {
  compare_with_stops(run, {"data.stream=false", "data.valid=[]"}, {1, 6, 20});
}
TEST_F(Language, SameBitsByEpochs) { compare_with_stops(run, {"train.validate=0.5e", "train.stop=3e"}, {3, 7}); }

/// What layers remember of the text is part of a run: 20 rows are less than a window of 32.
const Sets kRemembering{"model.attention={kind = \"transformer-xl\", memory = 20}", "model.position=transformer-xl"};
TEST_F(Language, SameBitsAfterStopsWithAMemory) { compare_with_stops(run, kRemembering, {1, 5, 6, 7, 12, 21}); }

TEST_F(Language, SameBitsForAnyNumberOfThreads) {
  for (const Sets& sets : {Sets{}, kRemembering}) {
    const std::string kind = std::to_string(sets.size());
    run.train(kind + "-1", sets);
    const auto one = run.bits(kind + "-1");
    for (const int threads : {2, 3, 4}) {
      const std::string name = kind + "-" + std::to_string(threads);
      run.train(name, sets, 7, threads);
      run.train(name, sets, 0, 5 - threads);
      expect_same_bits(one, run.bits(name));
    }
  }
}

TEST_F(Language, WithoutValidationFilesTheEndIsHeldOut) {
  const auto r = run.train("out", {"data.valid=[]"});
  EXPECT_NE(r.log.find(" tokens are held out of the training data to validate on"), std::string::npos) << r.log;
  EXPECT_TRUE(r.outcome.has_score);
}

TEST_F(Language, AnotherWindowIsAnotherRun) {
  run.train("out", {}, 3);
  EXPECT_NE(error_of([&] { run.train("out", {"data.max_length=16"}); }, ErrorKind::recipe)
                .find("data.max_length was 32, is 16"),
            std::string::npos);
  put(run.folder / "train.txt", rhymes(500, 3));
  EXPECT_TRUE(
      error_of([&] { run.train("out"); }, ErrorKind::data).starts_with("the training data is not what the run"));
}

TEST_F(Language, DefaultsAreThoseOfTheTask) {
  const Recipe r = load_recipe(run.recipe());
  EXPECT_EQ(r.model.shape, ModelShape::decoder);
  EXPECT_EQ(r.train.metric, "perplexity");
  EXPECT_EQ(r.train.label_smoothing, 0);
  EXPECT_EQ(load_recipe(run.recipe(), {"train.label_smoothing=0.1"}).train.label_smoothing, 0.1);
  EXPECT_EQ(load_recipe_for_run(run.recipe(), {"train.metric=loss"}).model.shape, ModelShape::decoder);
}

TEST_F(Language, Messages) {
  EXPECT_EQ(trouble(ErrorKind::recipe, {"model.shape=encoder-decoder"}),
            "--set: a language model has no source beside its text\n"
            "  fix: set model.shape = \"decoder\", or \"encoder\" to learn from words that are missing");
  EXPECT_EQ(trouble(ErrorKind::recipe, {"train.metric=bleu"}),
            "--set: train.metric = \"bleu\" compares texts, and a language model has loss and perplexity\n"
            "  fix: set train.metric = \"perplexity\"");
  EXPECT_EQ(trouble(ErrorKind::recipe, {"data.header=true"}),
            "--set: data.header = true, and only tsv and csv files have a line of names\n  fix: leave data.header out");
  EXPECT_TRUE(
      trouble(ErrorKind::recipe, {"train.batch_tokens=31"}).starts_with("--set: train.batch_tokens = 31 is less than"));
  put(run.folder / "train.txt", "knock knock\n");
  EXPECT_TRUE(trouble(ErrorKind::data, {})
                  .starts_with(run.recipe() + ":3: data.train has 12 tokens to train on, fewer than one window"));
  put(run.folder / "train.txt", "");
  EXPECT_TRUE(trouble(ErrorKind::data, {}).starts_with(run.recipe() + ":3: data.train: there is no text in "));
  put(run.folder / "train.txt", rhymes(500, 1));
  put(run.folder / "valid.txt.gz", "");
  EXPECT_TRUE(
      trouble(ErrorKind::data, {}).starts_with(run.recipe() + ":4: data.valid: no line is left of 0 read from "));
  std::filesystem::remove(run.folder / "valid.txt.gz");
  EXPECT_TRUE(trouble(ErrorKind::data, {})
                  .starts_with(run.recipe() + ":4: data.valid: cannot read " + (run.folder / "valid.txt.gz") +
                               ": No such file"));
  EXPECT_FALSE(std::filesystem::exists(run.folder / "trouble"));
  SmallRun translation;
  EXPECT_TRUE(error_of([&] { translation.train("out", {"data.stream=true"}); }, ErrorKind::recipe)
                  .ends_with("data.stream = true: only language models read on from line to line\n"
                             "  fix: leave data.stream out"));
}

TEST_F(Language, WhatNeedsATranslationModelRefuses) {
  run.train("out", {"train.stop=1u", "train.average=1"});
  const std::string model = run.folder / "out";
  EXPECT_EQ(error_of([&] { Translator t(model); }, ErrorKind::model),
            model +
                " is a language model, which does not translate\n  fix: name a model whose task is translate; this "
                "one goes on with a text: `attune generate " +
                model + "`");
  EXPECT_EQ(error_of([&] { test_model(model); }, ErrorKind::recipe),
            model + "/recipe.toml names no test set\n  fix: add --set 'data.test=[\"test.txt\"]'");
  const Sets learned{"train.stop=1u", "train.average=1", "model.position=learned"};
  run.train("learned", learned);
  const std::string test = "data.test=[\"" + (run.folder / "train.txt") + "\"]";
  EXPECT_GT(test_model(model, {test, "data.max_length=64"}).tokens, 1000) << "sinusoids go on";
  EXPECT_EQ(
      error_of(
          [&] {
            test_model(run.folder / "learned", {test, "data.max_length=64"});
          },
          ErrorKind::recipe),
      "data.max_length = 64 is more than the 32 tokens that " + (run.folder / "learned") + " can see\n  fix: lower it");
}

}  // namespace
}  // namespace attune::test
