// attune tokenizer, as people type it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "places.h"
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
    more.insert(more.begin(), {"tokenizer", "train", "--force", "--out", folder / "t"});
    more.push_back(folder / "a.txt");
    return run_attune(more);
  }
};

TEST_F(TokenizerCommand, ALineInALineOut) {
  for (const std::string ids : {"", " --ids"}) {
    const Outcome r =
        run_program("/bin/sh", {"-c", program_path() + " tokenizer encode" + ids + " " + (folder / "t") + " " +
                                          (folder / "a.txt") + " | tee " + (folder / "pieces") + " | " +
                                          program_path() + " tokenizer decode" + ids + " " + (folder / "t")});
    EXPECT_EQ(r.out, "the dog runs\nthe dogs run\n\nthe caf\u00E9\uFFFD runs\n") << r.err;
    const std::string pieces = slurp(folder / "pieces");
    EXPECT_EQ(std::count(pieces.begin(), pieces.end(), '\n'), 4);
  }
  EXPECT_EQ(run_attune({"tokenizer", "encode", folder / "t"}).out, "");  // no line in
}

/// A line is answered before the next one comes, however short.
TEST_F(TokenizerCommand, AnswersAShortLineAtOnce) {
  const std::string to = folder / "to", from = folder / "from";
  const Outcome r = run_program(
      "/bin/sh",
      {"-c", "mkfifo " + to + " " + from + " && { " + program_path() + " tokenizer encode " + (folder / "t") + " < " +
                 to + " > " + from + " & exec 3> " + to + " 4< " + from +
                 "; echo a >&3; read -r answer <&4; echo \"first: $answer\"; echo a >&3; exec 3>&-; cat <&4; wait; }"});
  EXPECT_EQ(r.err, "");
  const std::string answer =
      run_program("/bin/sh", {"-c", "echo a | " + program_path() + " tokenizer encode " + (folder / "t")}).out;
  EXPECT_EQ(r.out, "first: " + answer + answer);
}

/// What comes out of encode and decode in a row.
std::string there_and_back(const std::string& tokenizer, const std::string& file) {
  return run_program("/bin/sh", {"-c", "cat " + file + " | " + program_path() + " tokenizer encode " + tokenizer +
                                           " | " + program_path() + " tokenizer decode " + tokenizer})
      .out;
}

TEST_F(TokenizerCommand, EveryKindIsAFilter) {
  const std::string text = "the dog runs\nthe dogs run\n\nthe caf\u00E9\uFFFD runs\n";
  for (const std::string kind : {"bpe", "unigram", "wordpiece", "byte", "char", "word"}) {
    const Outcome r = train({"--kind", kind, "--size", "300", "--quiet"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(there_and_back(folder / "t", folder / "a.txt"), text) << kind;
  }
  std::ofstream(folder / "new.txt") << "\u6F22\u5B57 xyz <0x41>\n";
  for (const std::string kind : {"bpe", "unigram", "char"}) {
    ASSERT_EQ(train({"--kind", kind, "--size", "300", "--byte-fallback"}).code, 0);
    EXPECT_EQ(there_and_back(folder / "t", folder / "new.txt"), "\u6F22\u5B57 xyz <0x41>\n") << kind;
  }
}

TEST_F(TokenizerCommand, CompressedTextIsReadAsItIs) {
  ASSERT_EQ(run_program("/bin/sh", {"-c", "gzip -k " + (folder / "a.txt")}).code, 0);
  const std::string plain = slurp(folder / "t/vocabulary.txt");
  for (const std::string& from : {folder / "a.txt.gz", "- < " + (folder / "a.txt.gz")}) {
    const Outcome r = run_program(
        "/bin/sh", {"-c", program_path() + " tokenizer train --force --size 40 --out " + (folder / "u") + " " + from});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(slurp(folder / "u/vocabulary.txt"), plain);
    const Outcome e =
        run_program("/bin/sh", {"-c", program_path() + " tokenizer encode --ids " + (folder / "t") + " " + from});
    EXPECT_EQ(e.out, run_attune({"tokenizer", "encode", "--ids", folder / "t", folder / "a.txt"}).out);
  }
}

TEST_F(TokenizerCommand, WhoeverWaitsForALineGetsIt) {
  // The second line is written only when the first has come back.
  const Outcome r = run_program(
      "/bin/bash", {"-c", "coproc T { " + program_path() + " tokenizer encode --ids " + (folder / "t") +
                              "; }; for i in 1 2; do echo the dog >&${T[1]}; read -t 20 -u ${T[0]} got || exit 9; "
                              "echo got $got; done"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 2) << r.out;
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
      {train({"--kind", "word", "--byte-fallback"}), 2,
       "attune tokenizer train: kind word has no byte fallback\n  fix: "},
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
