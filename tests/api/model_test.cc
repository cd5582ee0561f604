#include "attune/model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "checkpoint/small_model.h"
#include "data/files.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;

struct ModelTest : testing::Test {
  TempFolder dir{memory_folder()};
};

TEST_F(ModelTest, DescribesWhatAFolderHolds) {
  const std::string run = put_run(dir / "run", {100, 200});
  put_model(run, {.layers = 2, .step = 200});
  put(run + "/metrics.jsonl",
      "{\"step\":50,\"loss\":9.5}\n{\"step\":100,\"bleu\":31.5,\"valid_loss\":2.5}\nnot json\n"
      "{\"step\":150,\"bleu\":33.25}\n{\"step\":200,\"bleu\":32}\n{\"step\":250,\"bl");
  const ModelDescription d = describe_model(run);
  EXPECT_TRUE(d.verified);
  EXPECT_EQ(d.trouble, "");
  EXPECT_EQ(d.task, "translate");
  EXPECT_EQ(d.source_language, "en");
  EXPECT_EQ(d.target_language, "de");
  EXPECT_EQ(d.shape, "encoder-decoder");
  EXPECT_EQ(d.kind, "transformer");
  EXPECT_EQ(d.encoder_layers, 2);
  EXPECT_EQ(d.decoder_layers, 1);
  EXPECT_EQ(d.d_model, 4);
  EXPECT_EQ(d.heads, 2);
  EXPECT_EQ(d.tokenizer, "char");
  EXPECT_EQ(d.attention, "softmax");
  EXPECT_EQ(d.source_vocabulary, 8);
  EXPECT_EQ(d.target_vocabulary, 8);
  EXPECT_EQ(d.parameters, 8 * 4 + 2 * 4);
  EXPECT_EQ(d.tensors, 3);
  EXPECT_EQ(d.stored_as, "F32");
  EXPECT_EQ(d.step, 200);
  EXPECT_EQ(d.checkpoints, (std::vector<int64_t>{100, 200}));
  ASSERT_EQ(d.files.size(), 4u);
  EXPECT_EQ(d.files[0].name, "model.safetensors");
  EXPECT_EQ(d.files[3].name, "trainer.json");
  EXPECT_EQ(d.files[0].bytes, static_cast<int64_t>(fs::file_size(run + "/model.safetensors")));
  ASSERT_EQ(d.scores.size(), 3u);
  EXPECT_EQ(d.best, 1);
  EXPECT_EQ(d.scores[1].step, 150);
  EXPECT_EQ(d.scores[0].values, (std::vector<std::pair<std::string, double>>{{"bleu", 31.5}, {"valid_loss", 2.5}}));
}

TEST_F(ModelTest, BestGoesByTheRecipesMetric) {
  const std::string model = put_model(dir / "m", {.more = "[train]\nmetric = \"loss\"\n"});
  put(model + "/metrics.jsonl", "{\"step\":1,\"valid_loss\":3,\"bleu\":9}\n{\"step\":2,\"valid_loss\":2,\"bleu\":5}\n");
  EXPECT_EQ(describe_model(model).best, 1);
  put(model + "/metrics.jsonl", "{\"step\":1,\"bleu\":9}\n");
  EXPECT_EQ(describe_model(model).best, -1);
}

TEST_F(ModelTest, DamageIsDescribedAndTheRestToo) {
  const std::string model = put_model(dir / "m");
  fs::resize_file(model + "/model.safetensors", 20);
  const ModelDescription d = describe_model(model);
  EXPECT_FALSE(d.verified);
  EXPECT_TRUE(d.trouble.starts_with(model + "/model.safetensors has 20 bytes instead of ")) << d.trouble;
  EXPECT_EQ(d.d_model, 4);
  EXPECT_EQ(d.parameters, 0);
  EXPECT_EQ(d.files[0].bytes, 20);

  const std::string other = put_model(dir / "n");
  fs::remove(other + "/recipe.toml");
  const ModelDescription e = describe_model(other);
  EXPECT_NE(e.trouble.find("recipe.toml is missing"), std::string::npos) << e.trouble;
  EXPECT_EQ(e.files.size(), 3u);
  EXPECT_EQ(e.task, "");
}

TEST_F(ModelTest, FoldersWithoutAModel) {
  const auto says = [&](const std::string& folder) { return error_with_kind([&] { describe_model(folder); }); };
  EXPECT_EQ(says(dir / "none"),
            "model: " + (dir / "none") + " is not a folder\n  fix: name a folder that attune train wrote");
  EXPECT_TRUE(
      says(dir.path()).starts_with("model: " + dir.path() + " is not a model folder: it has no manifest.json\n"))
      << says(dir.path());
  const std::string run = put_run(dir / "run", {100});
  EXPECT_EQ(describe_model(run).folder, run + "/checkpoints/step-00000100") << "the last checkpoint stands for it";
}

/// The one number that all weights of a SmallModel are.
float weight_of(const std::string& model) {
  const SafetensorsFile file(open_model(model) + "/" + kModelName);
  std::vector<float> values(static_cast<size_t>(file.tensors()[0].size()));
  file.read(file.tensors()[0], values.data());
  for (const float v : values) EXPECT_EQ(v, values[0]);
  return values[0];
}

TEST_F(ModelTest, AveragesTheLastCheckpointsOfARun) {
  std::vector<int64_t> steps;
  for (int64_t s = 1; s <= 12; ++s) steps.push_back(s);
  const std::string run = put_run(dir / "run", steps);
  EXPECT_EQ(average({run}, dir / "a").models.size(), 7u) << "those of the later half";
  EXPECT_EQ(weight_of(dir / "a"), 9.0f);
  EXPECT_EQ(average({run}, dir / "all", {.early = true}).models.size(), 10u);
  EXPECT_EQ(weight_of(dir / "all"), 7.5f);
  const AverageReport r = average({run + "/checkpoints/"}, dir / "b", {.last = 2});
  EXPECT_EQ(r.models,
            (std::vector<std::string>{run + "/checkpoints/step-00000011", run + "/checkpoints/step-00000012"}));
  EXPECT_EQ(r.parameters, 8 * 4 + 4);
  EXPECT_TRUE(r.notes.empty());
  EXPECT_EQ(weight_of(dir / "b"), 11.5f);
  EXPECT_EQ(average({run}, dir / "c", {.last = 20}).notes.size(), 1u);
  EXPECT_EQ(weight_of(dir / "c"), 9.0f);
  EXPECT_EQ(average({run}, dir / "d", {.last = 20, .early = true}).notes.size(), 1u);
  EXPECT_EQ(weight_of(dir / "d"), 6.5f);
  average({run}, run);  // a run without a model of its own yet
  EXPECT_EQ(weight_of(run), 9.0f);

  const ModelDescription d = describe_model(dir / "b");
  EXPECT_TRUE(d.verified);
  EXPECT_EQ(d.source_vocabulary, 8);
  EXPECT_EQ(d.files.size(), 3u) << "recipe, tokenizer and weights, no state of a trainer";
  EXPECT_EQ(text::Tokenizer::load(dir / "b/tokenizer").size(), 8);
  EXPECT_EQ(slurp(dir / "b/recipe.toml"), slurp(r.models[0] + "/recipe.toml"));
  EXPECT_EQ(d.metadata, (std::vector<std::pair<std::string, std::string>>{
                            {"attune", "test"}, {"average_of", "step-00000011 step-00000012"}}));
}

TEST_F(ModelTest, AveragesNamedModels) {
  const std::string a = put_model(dir / "a", {.value = 1}),
                    b = put_model(dir / "b", {.value = 4, .more = "dropout = 0.1\n"});
  average({a, b}, dir / "c");
  EXPECT_EQ(weight_of(dir / "c"), 2.5f);
  EXPECT_EQ(error_with_kind([&] {
              average({a, b}, dir / "c");
            }),
            "usage: " + (dir / "c") + " holds a model already\n  fix: choose another --out, or replace it by --force");
  average({a, dir / "c"}, dir / "d");
  average({a, dir / "d"}, dir / "c", {.replace = true});
  EXPECT_EQ(weight_of(dir / "c"), 1.375f);
}

TEST_F(ModelTest, WhatCannotBeAveraged) {
  const std::string a = put_model(dir / "a"), wide = put_model(dir / "wide", {.d_model = 8});
  const std::string letters = put_model(dir / "letters", {.letters = "abx"});
  const std::string damaged = put_model(dir / "damaged");
  put(damaged + "/recipe.toml", "changed");
  const std::string run = put_run(dir / "run", {1}), file = put(dir / "file", "");
  const struct {
    std::vector<std::string> models;
    std::string out, says;
  } cases[] = {
      {{a, wide},
       dir / "x",
       "model: models differ: " + a + " has model.d_model = 4, " + wide + " has 8\n  fix: average models of one"},
      {{a, letters}, dir / "x", "model: models differ: " + a + " and " + letters + " have different tokenizers"},
      {{a, damaged}, dir / "x", "model: " + damaged + "/recipe.toml has 7 bytes instead of "},
      {{run}, dir / "x", "usage: " + run + " has only one checkpoint: an average takes two or more\n  fix: "},
      {{a}, dir / "x", "usage: " + a + " has no checkpoints: an average takes two or more\n  fix: "},
      {{a, a + "/."}, dir / "x", "usage: " + a + "/. is named twice: it would count double\n  fix: "},
      {{a, dir / "none"}, dir / "x", "model: " + (dir / "none") + " is not a folder\n  fix: "},
      {{a, wide}, a, "usage: " + a + " is one of the models to average\n  fix: "},
      {{a, wide}, file, "usage: " + file + " is a file, not a folder\n  fix: "},
      {{}, dir / "x", "usage: nothing to average\n"},
  };
  for (const auto& c : cases) {
    const std::string text = error_with_kind([&] { average(c.models, c.out); });
    EXPECT_TRUE(text.starts_with(c.says)) << text << "\nwanted " << c.says;
    EXPECT_FALSE(fs::exists(dir / "x"));
  }
  EXPECT_TRUE(error_with_kind([&] {
                average({a, wide}, dir / "x", {.last = 3});
              }).starts_with("usage: --last counts "));
}

}  // namespace
}  // namespace attune::test
