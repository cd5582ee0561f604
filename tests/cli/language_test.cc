// A language model as people and scripts meet it, from a text file to a score.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "recipe/settings.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

struct LanguageProgram : testing::Test {
  TempFolder dir;
  std::string text = put(dir / "rhymes.txt", rhymes(800, 1)), other = put(dir / "test.txt", rhymes(50, 2));
  std::string recipe = dir / "r.toml", model = dir / "m";
};

TEST_F(LanguageProgram, FromATextToAScore) {
  const Outcome made = run_attune({"new", "language", text, other, "--out", recipe});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(made.err.starts_with("800 lines to train on, ")) << made.err;
  EXPECT_NE(made.err.find("the last 2 % of the text will be held out"), std::string::npos) << made.err;
  EXPECT_NE(made.err.find("test: 50 lines of " + other), std::string::npos) << made.err;
  EXPECT_TRUE(made.err.ends_with("wrote " + recipe + "\nnext: attune train " + recipe + "\n")) << made.err;
  const Recipe r = load_recipe(recipe);
  EXPECT_EQ(r.task, Task::language);
  EXPECT_TRUE(r.data.stream);
  EXPECT_EQ(r.data.train, (std::vector<std::string>{"rhymes.txt"}));
  EXPECT_EQ(r.data.test, (std::vector<std::string>{"test.txt"}));
  EXPECT_EQ(r.tokenizer.kind, text::TokenizerKind::character);
  EXPECT_EQ(r.model.shape, ModelShape::decoder);

  const Outcome trained =
      run_attune({"train", recipe, "--out", model, "--set", "train.stop=4u", "--set", "train.validate=2u", "--set",
                  "train.batch_tokens=512", "--set", "model.d_model=16", "--set", "model.d_ff=16"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find(" : valid : loss "), std::string::npos) << trained.err;
  EXPECT_NE(trained.err.find(" : bits_per_character "), std::string::npos) << trained.err;
  EXPECT_TRUE(trained.err.ends_with("  attune test " + model + " --set 'data.test=[\"FILE\"]'\n")) << trained.err;

  const Outcome tested = run_attune({"test", model});
  ASSERT_EQ(tested.code, 0) << tested.err;
  EXPECT_TRUE(tested.out.starts_with("perplexity = ")) << tested.out;
  EXPECT_NE(tested.err.find(" tokens of 50 lines scored in "), std::string::npos) << tested.err;
  const Json j = Json::parse(run_attune({"test", model, "--json", "--quiet"}).out);
  EXPECT_GT(j["perplexity"], 1.0);
  EXPECT_EQ(j["lines"], 50);
  EXPECT_GT(j["tokens"], 100);
  EXPECT_TRUE(j.contains("loss") && j.contains("bits_per_character"));

  const Json info = Json::parse(run_attune({"info", model, "--json"}).out);
  EXPECT_EQ(info["task"], "language");
  EXPECT_EQ(info["shape"], "decoder");
  EXPECT_TRUE(info["languages"].empty());
  EXPECT_TRUE(info["best"].contains("valid_perplexity"));
  const Outcome averaged = run_attune({"average", model, "--last", "2", "--out", dir / "mean"});
  ASSERT_EQ(averaged.code, 0) << averaged.err;
  EXPECT_EQ(run_attune({"test", dir / "mean", "--quiet"}).code, 0);

  const Outcome refused = run_attune({"translate", model, text});
  EXPECT_EQ(refused.code, 5);
  EXPECT_TRUE(
      refused.err.starts_with("attune translate: " + model + " is a language model, which does not translate\n  fix: "))
      << refused.err;

  const Outcome look = run_attune({"look", model, "one two", "--json"});
  ASSERT_EQ(look.code, 0) << look.err;
  const Json looked = Json::parse(look.out);
  EXPECT_EQ(looked["source"], looked["target"]) << "it looks back at what it read";
  const auto& rows = looked["weights"];
  ASSERT_EQ(rows.size(), looked["source"].size());
  for (size_t i = 0; i < rows.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < rows.size(); ++j) {
      if (j > i) { EXPECT_EQ(rows[i][j], 0); }
      sum += rows[i][j].get<double>();
    }
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  EXPECT_NE(run_attune({"look", model, "one two"}).err.find("text at itself, decoder layer"), std::string::npos);
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--at", "encoder"}, {"--target", "two"}}) {
    std::vector<std::string> words{"look", model, "one two"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome wrong = run_attune(words);
    EXPECT_EQ(wrong.code, 2) << wrong.err;
    EXPECT_NE(wrong.err.find("is a language model: it has no "), std::string::npos) << wrong.err;
  }
  const Outcome bench = run_attune({"bench", "train", recipe, "--updates", "2", "--warm", "1", "--json", "--quiet"});
  ASSERT_EQ(bench.code, 0) << bench.err;
  EXPECT_GT(Json::parse(bench.out)["target_tokens_per_s"], 0);
}

TEST_F(LanguageProgram, NewTellsAndRefuses) {
  const Outcome json = run_attune({"new", "language", text, "--out", "-", "--json", "--quiet"});
  ASSERT_EQ(json.code, 0) << json.err;
  const Json j = Json::parse(json.out);
  EXPECT_EQ(j["task"], "language");
  EXPECT_TRUE(j["languages"].empty());
  EXPECT_EQ(j["settings"]["task"], "\"language\"");
  const std::string blank = put(dir / "blank.txt", "\n \n"), none = put(dir / "none.txt", "");
  const struct {
    std::vector<std::string> files;
    int code;
    std::string says;
  } cases[] = {
      {{}, 2, "no files to learn from\n  fix: attune new language text.txt\n"},
      {{text, text}, 2, text + " is named twice\n  fix: name each file once\n"},
      {{none}, 4, none + " is empty\n"},
      {{blank}, 4, blank + ": every line is empty\n  fix: check the file\n"},
      {{dir / "missing.txt"}, 6, "cannot read " + (dir / "missing.txt") + ": No such file or directory\n"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> words{"new", "language"};
    words.insert(words.end(), c.files.begin(), c.files.end());
    words.insert(words.end(), {"--out", recipe});
    const Outcome r = run_attune(words);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_TRUE(r.err.starts_with("attune new: " + c.says)) << r.err;
    EXPECT_FALSE(std::filesystem::exists(recipe));
  }
}

}  // namespace
}  // namespace attune::test
