// attune tokenizer, as people type it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace attune::test {
namespace {

struct TokenizerCommand : testing::Test {
  TempFolder folder;
  void SetUp() override {
    std::ofstream(folder / "a.txt") << "the dog runs\nthe dogs run \n\n the caf\u00E9\xFF\x1f runs";
    const Outcome r = train({"--size", "40"});
    ASSERT_EQ(r.code, 0) << r.err;
  }
  Outcome train(std::vector<std::string> more) {
    more.insert(more.begin(), {"tokenizer", "train", "--out", folder / "t"});
    more.push_back(folder / "a.txt");
    return run_attune(more);
  }
};

TEST_F(TokenizerCommand, ALineInALineOut) {
  for (const std::string ids : {"", " --ids"}) {
    const Outcome r =
        run_program("/bin/sh", {"-c", ATTUNE_PROGRAM " tokenizer encode" + ids + " " + (folder / "t") + " " +
                                          (folder / "a.txt") + " | tee " + (folder / "pieces") +
                                          " | " ATTUNE_PROGRAM " tokenizer decode" + ids + " " + (folder / "t")});
    EXPECT_EQ(r.out, "the dog runs\nthe dogs run\n\nthe caf\u00E9\uFFFD runs\n") << r.err;
    const std::string pieces = slurp(folder / "pieces");
    EXPECT_EQ(std::count(pieces.begin(), pieces.end(), '\n'), 4);
  }
  EXPECT_EQ(run_attune({"tokenizer", "encode", folder / "t"}).out, "");  // no line in
}

TEST_F(TokenizerCommand, JsonTellsOffsets) {
  const Outcome r = run_attune({"tokenizer", "encode", folder / "t", folder / "a.txt", "--json"});
  const auto j = nlohmann::json::parse(r.out.substr(0, r.out.find('\n')));
  ASSERT_EQ(j["pieces"].size(), j["ids"].size());
  EXPECT_EQ(j["offsets"].back()[1], 12);
  const Outcome t = train({"--kind", "word", "--quiet", "--json"});
  EXPECT_EQ(nlohmann::json::parse(t.out)["lines"], 4);
  EXPECT_EQ(t.err, "");
}

TEST_F(TokenizerCommand, MistakesAreNamed) {
  const struct {
    Outcome r;
    int code;
    std::string says;
  } cases[] = {
      {train({"--kind", "bpt"}), 2, "attune tokenizer train: "},
      {train({"--size", "9"}), 4, "attune tokenizer train: tokenizer size 9 is too small"},
      {run_attune({"tokenizer", "train", folder / "a.txt"}), 2, "attune tokenizer train: --out is required"},
      {run_attune({"tokenizer", "train", "--out", folder / "x", folder / "no"}), 6,
       "attune tokenizer train: cannot read "},
      {run_attune({"tokenizer", "encode", folder / "no"}), 6, "attune tokenizer encode: cannot read "},
      {run_attune({"tokenizer", "decode", "--ids", folder / "t", folder / "a.txt"}), 4,
       "attune tokenizer decode: " + (folder / "a.txt") + ":1: 'the' is no id: they go from 0 to "},
      {run_attune({"tokenizer"}), 2, "attune tokenizer: which one?\n"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.r.code, c.code) << c.r.err;
    EXPECT_TRUE(c.r.err.find(c.says) != std::string::npos) << c.r.err;
  }
}

}  // namespace
}  // namespace attune::test
