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

TEST_F(NewTest, TellsWhatFilesAreFor) {
  const auto words = [&](const std::string& name, const std::string& who) {
    return put(dir / name, "Hoy DA O\n" + who + " NP B-PER\nhabla VB O\n\nNo DA O\n\n");
  };
  const std::string train = words("esp.train", "Ana"), a = words("esp.testa", "Eva"), b = words("esp.testb", "Ana");
  const Outcome r = run_attune({"new", "tag", train, a, b, "--out", recipe, "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("\n" + a + ": validation (its name says so)\n"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("\nWARNING: all 2 test texts stand in the training files too: "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("\nWARNING: 1 of 2 validation texts (50 %) stand "), std::string::npos) << r.err;
  const Json j = Json::parse(r.out);
  EXPECT_EQ(j["files"][2], Json({{"file", b}, {"role", "test"}, {"why", "its name says so"}}));
  EXPECT_EQ(j["valid_in_train"], 1);
  EXPECT_EQ(j["test_in_train"], 2);
  const Recipe made = load_recipe(recipe);
  EXPECT_EQ(made.data.valid, std::vector<std::string>{"esp.testa"});
  EXPECT_EQ(made.data.columns.texts, (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(made.train.metric, "span-f1");
  EXPECT_EQ(made.model.head.literal(), "{ kind = \"tags\", crf = true, ngrams = 2 }");

  const std::string other = words("esp.more", "Eva");
  const Outcome asked = run_attune({"new", "tag", train, other, b, "--out", recipe, "--force"});
  EXPECT_EQ(asked.code, 2);
  EXPECT_TRUE(asked.err.starts_with("attune new: " + other + ": what is it for? Its name does not tell; "));
  EXPECT_TRUE(
      asked.err.ends_with("\n  fix: attune new tag --train " + train + " --valid " + other + " --test " + b + "\n"))
      << asked.err;
  const Outcome said = run_attune(
      {"new", "tag", "--train", train, "--valid", other, "--test", b, "--out", recipe, "--force", "--quiet"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(load_recipe(recipe).data.valid, std::vector<std::string>{"esp.more"});
}

TEST_F(NewTest, LooksAtTables) {
  std::string rows = "id;text;label\n";
  for (int i = 0; i < 30; ++i)
    rows += std::to_string(i) + ";\"na\xefve; " + std::to_string(i) + "\";" + (i % 2 ? "a\n" : "b\n");
  const std::string csv = put(dir / "reviews.csv", rows);
  const Outcome r = run_attune({"new", "classify", csv, "--out", recipe});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("\ncolumns by the header: \"text\", \"label\"; not read: \"id\"\n"), std::string::npos) << r.err;
  const Recipe made = load_recipe(recipe);
  EXPECT_EQ(made.data.columns.texts, (std::vector<std::string>{"text", "label"}));
  EXPECT_EQ(made.data.delimiter, ";");
  EXPECT_EQ(made.data.encoding, "windows-1252");
  EXPECT_EQ(run_attune({"new", "classify", "--columns", "text,id", csv, "--out", recipe, "--force"}).code, 0);
  EXPECT_EQ(load_recipe(recipe).data.columns.texts, (std::vector<std::string>{"text", "id"}));
  const Outcome wrong = run_attune({"new", "classify", csv, "--columns", "txt,label", "--out", recipe, "--force"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "attune new: --columns names \"txt\", the columns of " + csv +
                           " are \"id\", \"text\", \"label\"\n  fix: did you mean \"text\"?\n");
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
