// Every optimiser, schedule and dropout, and the moving average: the same bits whatever stops a run and on any threads.
#include <gtest/gtest.h>

#include "base/files.h"
#include "checks.h"
#include "run/language_run.h"
#include "run/small_run.h"

namespace attune::test {
namespace {

using Reason = TrainingOutcome::Reason;

std::map<std::string, std::string> expect_same(const SmallRun& run, const Sets& sets) {
  EXPECT_EQ(run.train("whole", sets).outcome.reason, Reason::finished);
  int threads = 1;
  for (const int64_t update : {1, 6, 7, 13}) {  // 6 validates, 5 saves
    EXPECT_EQ(run.train("pieces", sets, update, threads).outcome.updates, update);
    threads = threads % 3 + 1;
  }
  EXPECT_EQ(run.train("pieces", sets).outcome.reason, Reason::finished);
  const auto whole = run.bits("whole");
  expect_same_bits(whole, run.bits("pieces"));
  return whole;
}

/// And that it is something else than the run without them; `both` are of both.
void expect_same_and_new(const SmallRun& run, Sets sets, const Sets& both = {}) {
  run.train("plain", both);
  sets.insert(sets.end(), both.begin(), both.end());
  const auto bits = expect_same(run, sets);
  EXPECT_TRUE(bits.at("model.safetensors") != run.bits("plain").at("model.safetensors")) << sets.front();
}

struct Kinds : testing::TestWithParam<const char*> {
  SmallRun run;
};

TEST_P(Kinds, SameBitsAfterStopsAndOnAnyThreads) { expect_same_and_new(run, {GetParam()}, {"train.weight_decay=0.1"}); }

INSTANTIATE_TEST_SUITE_P(All, Kinds,
                         testing::Values("train.optimizer=adamw", "train.optimizer=adafactor",
                                         "train.optimizer={kind = \"adafactor\", relative_step = false}",
                                         "train.optimizer=sgd", "train.optimizer={kind = \"sgd\", nesterov = true}",
                                         "train.schedule=constant", "train.schedule=cosine", "train.schedule=linear",
                                         "train.schedule=exponential", "model.attention_dropout=0.2",
                                         "model.activation_dropout=0.2", "model.word_dropout=0.2",
                                         "model.layer_dropout=0.3", "train.ema=0.9", "train.target_noise=0.1",
                                         "train.sampling.share=0.5"),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : std::string(info.param))
                             name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

struct ResumeKinds : testing::Test {
  SmallRun run;
  nlohmann::json state(const std::string& out) const {
    return nlohmann::json::parse(slurp(checkpoints(run.folder / out).back().path + "/trainer.json"));
  }
};

TEST_F(ResumeKinds, PiecesFallApartAlike) {
  expect_same_and_new(run, {"train.piece_dropout=0.3"}, {"tokenizer.kind=bpe", "tokenizer.size=60"});
}

TEST_F(ResumeKinds, AdamWDecays) {
  expect_same_and_new(run, {"train.optimizer=adamw", "train.weight_decay=0.1"});
  const SmallRun other;
  const auto all = expect_same(other, {"train.optimizer={kind = \"adamw\", vectors = true}", "train.weight_decay=0.1"});
  EXPECT_TRUE(all.at("model.safetensors") != run.bits("whole").at("model.safetensors"));
}

TEST_F(ResumeKinds, NothingToRememberIsNoTrouble) {
  const Sets sets{"train.optimizer={kind = \"sgd\", momentum = 0}", "train.learning_rate=0.1"};
  run.train("whole", sets);
  run.train("pieces", sets, 7);
  run.train("pieces", sets);
  EXPECT_EQ(slurp(run.folder / "whole/model.safetensors"), slurp(run.folder / "pieces/model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(checkpoints(run.folder / "whole").back().path + "/optimizer.safetensors"));
}

TEST_F(ResumeKinds, AdafactorsCheckpointsAreSmall) {
  const Sets sets{"train.optimizer=adafactor"};
  run.train("adam");
  run.train("adafactor", sets);
  const auto numbers = [&](const char* out) {
    int64_t n = 0;
    const SafetensorsFile file(checkpoints(run.folder / out).back().path + "/optimizer.safetensors");
    for (const StoredTensor& t : file.tensors()) n += t.size();
    return n;
  };
  EXPECT_LT(6 * numbers("adafactor"), numbers("adam"));
}

TEST_F(ResumeKinds, APlateauLowersTheRate) {
  const Sets sets{
      "train.schedule=plateau",    "train.validate=2u", "train.learning_rate=0.3",          "train.plateau_patience=2",
      "train.plateau_factor=0.25", "train.metric=loss", "train.optimizer={kind = \"sgd\"}", "train.warmup=0"};
  expect_same(run, sets);
  // The rule again, from what a run tells.
  Trainer trainer({.recipe = run.recipe(), .out = run.folder / "told", .sets = sets, .threads = 1});
  double scale = 1;
  int waited = 0, lowered = 0;
  std::string log;
  TrainingEvents events;
  events.on_update = [&](const TrainingStatus& s) { EXPECT_DOUBLE_EQ(s.rate, 0.3 * scale) << s.update; };
  events.on_validation = [&](const ValidationResult& v) {
    waited = v.best ? 0 : waited + 1;
    if (waited < 2) return;
    scale *= 0.25;
    waited = 0;
    ++lowered;
  };
  events.on_log = [&](const std::string& line) { log += line + "\n"; };
  trainer.run(events);
  EXPECT_GE(lowered, 1) << log;
  EXPECT_EQ(state("told")["rate_scale"], scale);
  EXPECT_NE(log.find("no better for a while: the learning rate is 0.25 of the recipe's"), std::string::npos) << log;
}

TEST_F(ResumeKinds, EverythingAtOnce) {
  expect_same_and_new(run, {"train.optimizer=adafactor", "train.ema=0.8", "train.average=1", "model.layer_dropout=0.2",
                            "model.word_dropout=0.1", "model.attention_dropout=0.1", "model.activation_dropout=0.1",
                            "train.accumulate=2", "model.norm=pre", "train.schedule=plateau"});
}

TEST_F(ResumeKinds, TheAverageIsTheModelAndTheWeightsAreKept) {
  const Sets sets{"train.ema=0.9", "train.average=1", "train.validate=0u", "train.stop=7u", "train.save=7u"};
  run.train("out", sets);
  run.train("plain", {"train.average=1", "train.validate=0u", "train.stop=7u", "train.save=7u"});
  const SafetensorsFile model(run.folder / "out/model.safetensors"), plain(run.folder / "plain/model.safetensors"),
      kept(run.folder / "out/checkpoints/step-00000007/optimizer.safetensors");
  const auto values = [](const SafetensorsFile& file, const std::string& name) {
    std::vector<float> v(static_cast<size_t>(file.find(name)->size()));
    file.read(*file.find(name), v.data());
    return v;
  };
  for (const StoredTensor& t : model.tensors()) {
    EXPECT_EQ(values(kept, t.name + ".trained"), values(plain, t.name)) << "an average changes no training";
    EXPECT_TRUE(values(model, t.name) != values(plain, t.name)) << t.name;
  }
  const SafetensorsFile last(run.folder / "out/checkpoints/step-00000007/model.safetensors");
  EXPECT_EQ(last.tensors().size(), model.tensors().size());
  for (const StoredTensor& t : last.tensors()) EXPECT_EQ(values(model, t.name), values(last, t.name)) << t.name;
}

TEST_F(ResumeKinds, ValidationJudgesTheAverage) {
  const Sets sets{"train.average=1", "train.metric=loss", "train.ema=0.95", "train.validate=22u"};
  const TrainingOutcome averaged = run.train("averaged", sets).outcome;
  const TrainingOutcome plain =
      run.train("plain", {"train.average=1", "train.metric=loss", "train.validate=22u"}).outcome;
  EXPECT_NE(averaged.best_score, plain.best_score);
  EXPECT_LE(averaged.final_score, plain.final_score) << "the weights that it follows are judged at the end";
}

TEST_F(ResumeKinds, WhatCanNotChangeOnTheWay) {
  run.train("out", {}, 3);
  for (const auto& [set, says] : {std::pair{"train.optimizer=sgd", "train.optimizer was \"adam\", is \"sgd\""},
                                  {"train.optimizer={kind = \"adamw\", vectors = true}",
                                   "train.optimizer was \"adam\", is { kind = \"adamw\", vectors = true }"},
                                  {"train.ema=0.9", "train.ema was 0.0, is 0.9"},
                                  {"train.schedule=plateau", "train.schedule was \"inverse-sqrt\", is \"plateau\""},
                                  {"train.plateau_factor=0.1", "train.plateau_factor was 0.5, is 0.1"},
                                  {"model.word_dropout=0.1", "model.word_dropout was 0.0, is 0.1"},
                                  {"model.layer_dropout=0.1", "model.layer_dropout was 0.0, is 0.1"}})
    EXPECT_NE(error_of([&] { run.train("out", {set}); }, ErrorKind::recipe).find(says), std::string::npos) << set;
  EXPECT_EQ(run.train("plateau", {"train.schedule=plateau", "train.stop=5u"}).outcome.updates, 5);
  EXPECT_EQ(run.train("plateau", {"train.schedule=plateau", "train.stop=7u"}).outcome.updates, 7)
      << "such a run can be made longer";
}

TEST_F(ResumeKinds, Messages) {
  EXPECT_EQ(error_of([&] { run.train("out", {"train.optimizer=adm"}); }, ErrorKind::recipe),
            "--set: train.optimizer = \"adm\" is not known. Did you mean \"adam\"?");
  EXPECT_EQ(error_of(
                [&] {
                  run.train("out", {"train.schedule=plateau", "train.validate=0u"});
                },
                ErrorKind::recipe),
            "--set: train.schedule = \"plateau\" goes by validations, and train.validate = \"0u\" has none\n"
            "  fix: set train.validate = \"1e\"");
  EXPECT_FALSE(std::filesystem::exists(run.folder / "out"));
}

TEST(ResumeTexts, SameBitsWithAMemoryAndEverything) {
  const LanguageRun run;
  expect_same(run, {"model.attention={kind = \"transformer-xl\", memory = 20}", "model.position=transformer-xl",
                    "model.layer_dropout=0.3", "model.word_dropout=0.1", "train.ema=0.9", "train.optimizer=adafactor"});
}

TEST(ResumeTexts, SameBitsWhereTheDecoderReadsSomethingElse) {
  const LanguageRun run;
  const Sets memory{"model.attention={kind = \"transformer-xl\", memory = 20}", "model.position=transformer-xl"};
  run.train("plain", memory);
  Sets sets = memory;
  sets.insert(sets.end(), {"train.target_noise=0.1", "train.sampling={share = 0.4, from = 3, over = 8}"});
  const auto bits = expect_same(run, sets);
  EXPECT_TRUE(bits.at("model.safetensors") != run.bits("plain").at("model.safetensors"));
}

}  // namespace
}  // namespace attune::test
