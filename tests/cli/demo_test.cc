// attune demo, made short: what it shows, what it leaves behind, and where it looks for its recipe.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "places.h"
#include "run_program.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;

const std::string kDemoRecipe = source_dir() + "/recipes/demo/recipe.toml";

std::vector<std::string> short_demo(const std::vector<std::string>& more) {
  std::vector<std::string> words{"demo", "--recipe", kDemoRecipe, "--quiet"};
  for (const char* set : {"train.stop=12u", "train.validate=12u", "model.d_model=32", "model.encoder_layers=1",
                          "model.decoder_layers=1", "model.d_ff=32"})
    words.insert(words.end(), {"--set", set});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Demo, TranslatesUnseenLinesAndLeavesNothing) {
  const TempFolder dir;
  const Outcome r = run_attune(short_demo({}), {"TMPDIR=" + dir.path()});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_NE(r.out.find("300 sentences it has never seen"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\n  wrong  "), std::string::npos) << r.out;  // after twelve updates it knows nothing
  EXPECT_NE(r.out.find(" of 300 are right to the letter"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("</s>"), std::string::npos) << r.out;  // the attention
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(Demo, BeginsWithTheModelThatShips) {
  const Outcome r = run_attune(short_demo({}));
  ASSERT_EQ(r.code, 0) << r.err;
  const size_t shipped = r.out.find("puts English into French:"), trained = r.out.find("sentences it has never seen");
  ASSERT_LT(shipped, trained) << r.out;
  EXPECT_NE(r.out.find("  Who wrote this book?\n  Qui a écrit ce livre ?\n"), std::string::npos) << r.out;
  EXPECT_LT(r.out.find("</s>"), trained) << r.out;
}

TEST(Demo, KeepsTheModelWhereAskedTo) {
  const TempFolder dir;
  const Outcome r = run_attune(short_demo({"--out", dir / "m", "--json"}));
  ASSERT_EQ(r.code, 0) << r.err;
  const auto j = nlohmann::json::parse(r.out);
  EXPECT_EQ(j["lines"], 300);
  EXPECT_EQ(j["updates"], 12);
  EXPECT_TRUE(j.contains("exact") && j.contains("right"));
  EXPECT_TRUE(fs::exists(dir / "m/model.safetensors"));
}

TEST(Demo, WithoutARecipeSaysWhereToFindOne) {
  const TempFolder dir;
  fs::create_directories(dir / "bin");
  fs::copy_file(program_path(), dir / "bin/attune");
  const Outcome lost = run_program("/bin/sh", {"-c", "cd " + dir.path() + " && bin/attune demo"});
  EXPECT_EQ(lost.code, 2);
  EXPECT_NE(lost.err.find("\n  fix: run it in the folder of the sources"), std::string::npos) << lost.err;
  // As installed: it is found beside the program. Its data is missing, which shows that it was found.
  fs::create_directories(dir / "share/attune/recipes/demo");
  fs::copy_file(kDemoRecipe, dir / "share/attune/recipes/demo/recipe.toml");
  const Outcome found = run_program("/bin/sh", {"-c", "cd / && " + (dir / "bin/attune") + " demo"});
  EXPECT_EQ(found.code, 4) << found.err;
  EXPECT_NE(found.err.find("share/attune/recipes/demo/train.en.gz"), std::string::npos) << found.err;
}

}  // namespace
}  // namespace attune::test
