// attune new as people and scripts meet it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/files.h"
#include "places.h"
#include "recipe/settings.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

struct NewTest : testing::Test {
  TempFolder dir;
  std::string en = put(dir / "train.en", "a dog .\na cat .\ntwo cats .\n");
  std::string de = put(dir / "train.de", "ein Hund .\neine Katze .\nzwei Katzen .\n");
  std::string recipe = dir / "r.toml";
};

TEST_F(NewTest, WritesARecipeAndSaysWhatIsNext) {
  const Outcome r = run_attune({"new", "translate", en, de, "--out", recipe});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_TRUE(r.err.starts_with("en to de: 3 pairs to train on, 9 and 9 words\n")) << r.err;
  EXPECT_NE(r.err.find("no validation files: about 1 pair of the training files will be held out"), std::string::npos);
  EXPECT_TRUE(r.err.ends_with("wrote " + recipe + "\nnext: attune train " + recipe + "\n")) << r.err;
  EXPECT_EQ(load_recipe(recipe).data.train, (std::vector<std::string>{"train.en", "train.de"}));

  const Outcome again = run_attune({"new", "translate", en, de, "--out", recipe});
  EXPECT_EQ(again.code, 2);
  EXPECT_EQ(again.err, "attune new: " + recipe +
                           " is there already\n  fix: choose another name by --out, or replace it by --force\n");
  EXPECT_EQ(run_attune({"new", "translate", de, en, "--out", recipe, "--force", "--quiet"}).err, "");
  EXPECT_EQ(load_recipe(recipe).data.train, (std::vector<std::string>{"train.de", "train.en"}));
}

TEST_F(NewTest, TheNameUnlessGivenIsTheTask) {
  const Outcome r =
      run_program("/bin/sh", {"-c", "cd " + dir.path() + " && " + program_path() + " new translate train.en train.de"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(r.err.ends_with("wrote translate.toml\nnext: attune train translate.toml\n")) << r.err;
  EXPECT_EQ(load_recipe(dir / "translate.toml").data.languages, (std::vector<std::string>{"en", "de"}));
}

TEST_F(NewTest, ToStdoutAndAsJson) {
  const Outcome text = run_attune({"new", "translate", en, de, "--out", "-", "--quiet"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.err, "");
  put(recipe, text.out);
  load_recipe(recipe);
  EXPECT_FALSE(std::filesystem::exists("-"));

  const Outcome json = run_attune({"new", "translate", en, de, "--out", "-", "--json", "--quiet"});
  const Json j = Json::parse(json.out);
  EXPECT_EQ(j["recipe"], text.out);
  EXPECT_EQ(j["task"], "translate");
  EXPECT_EQ(j["pairs"], 3);
  EXPECT_EQ(j["languages"], Json::parse(R"(["en", "de"])"));
  EXPECT_EQ(j["settings"]["model.d_model"], "128");
  EXPECT_EQ(j["train"], Json({en, de}));
  EXPECT_TRUE(j["held_out"]);
  EXPECT_GT(j["notes"].size(), 2u);
}

TEST_F(NewTest, Mistakes) {
  const std::string shorter = put(dir / "shorter.de", "ein Hund .\n");
  const struct {
    std::vector<std::string> words;
    int code;
    std::string says;
  } cases[] = {
      {{en, de}, 2, "'" + en + "' is a file, and the task comes first\n  fix: attune new translate " + en + " " + de},
      {{"translat", en, de}, 2, "unknown task 'translat'. Did you mean 'translate'?\n"},
      {{"tag", put(dir / "words", "one\ntwo\n")},
       4,
       (dir / "words") + " has one column\n  fix: write a word, a tab and "},
      {{"translate", en, shorter},
       4,
       "corpora differ in length: " + en + " has 3 lines, " + shorter + " has 1\n  fix: look for a lost last line"},
      {{"translate", en, dir / "train.ed"}, 6, "cannot read " + (dir / "train.ed") + ": No such file or directory\n"},
      {{"translate"}, 2, "no files to learn from\n  fix: attune new translate train.en train.de\n"},
      {{"translate", en, en}, 2, en + " is named twice\n  fix: "},
      {{}, 2, "TASK is required\n  fix: see `attune new --help`\n"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> words{"new"};
    words.insert(words.end(), c.words.begin(), c.words.end());
    words.insert(words.end(), {"--out", recipe});
    const Outcome r = run_attune(words);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_TRUE(r.err.starts_with("attune new: " + c.says)) << r.err;
    EXPECT_FALSE(std::filesystem::exists(recipe));
  }
}

}  // namespace
}  // namespace attune::test
