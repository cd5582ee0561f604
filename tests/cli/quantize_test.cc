// attune quantize as people and scripts meet it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "run/small_run.h"
#include "run_program.h"

namespace attune::test {
namespace {

TEST(QuantizeProgram, TellsWhatItCosts) {
  const SmallRun run;
  run.train("m");
  const std::string model = run.folder / "m", out = run.folder / "small";
  const Outcome r = run_attune({"quantize", model, "--out", out, "--threads", "1"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "wrote " + out + "\n");
  for (const char* word :
       {"int8", "file", "bleu", "perplexity", "tokens/s", "KL divergence", "the same best token at "})
    EXPECT_NE(r.out.find(word), std::string::npos) << r.out;
  const Outcome refused =
      run_attune({"quantize", model, "--out", run.folder / "x", "--max-loss", "-1000", "--json", "--quiet"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_EQ(refused.out, "");
  EXPECT_FALSE(std::filesystem::exists(run.folder / "x"));
  const Outcome json = run_attune({"quantize", model, "--out", run.folder / "y", "--dev", run.folder / "valid.in",
                                   run.folder / "valid.out", "--type", "f16", "--json", "--quiet"});
  ASSERT_EQ(json.code, 0) << json.err;
  const auto j = nlohmann::json::parse(json.out);
  for (const char* key : {"bytes_before", "bytes_after", "metric", "score_before", "score_after", "loss", "kl", "top1",
                          "tokens_per_s_before", "tokens_per_s_after", "lines", "tokens"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_EQ(j["type"], "f16");
  EXPECT_EQ(run_attune({"quantize", model, "--out", run.folder / "z", "--type", "int4"}).code, 2);
  const Outcome said = run_attune({"translate", out, put(run.folder / "lines", "a b c\n\nd\n"), "--threads", "1"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 3);
}

TEST(QuantizeProgram, MakesAShortlist) {
  const SmallRun run;
  run.train("m");
  const std::string model = run.folder / "m", out = run.folder / "small";
  const Outcome r = run_attune({"quantize", model, "--out", out, "--shortlist", "--threads", "1", "--max-loss", "100"});
  ASSERT_EQ(r.code, 0) << r.err;
  for (const char* word : {"+ shortlist", "shortlist: ", " words a line"})
    EXPECT_NE(r.out.find(word), std::string::npos) << r.out;
  const Outcome json = run_attune({"quantize", model, "--out", run.folder / "y", "--shortlist", "--shortlist-data",
                                   run.folder / "train.in", run.folder / "train.out", "--shortlist-translations", "3",
                                   "--shortlist-frequent", "2", "--json", "--quiet"});
  ASSERT_EQ(json.code, 0) << json.err;
  const auto j = nlohmann::json::parse(json.out);
  for (const char* key : {"bytes", "words", "recall", "score_without", "tokens_per_s_without"})
    EXPECT_TRUE(j["shortlist"].contains(key)) << key;
  EXPECT_EQ(run_attune({"quantize", model, "--out", run.folder / "z", "--shortlist-frequent", "2"}).code, 2);
  EXPECT_EQ(
      run_attune({"quantize", model, "--out", run.folder / "z", "--shortlist", "--max-loss", "-1000", "--quiet"}).code,
      5);
  EXPECT_NE(run_attune({"info", out}).out.find("shortlist "), std::string::npos);
  const std::string lines = put(run.folder / "lines", "a b c\n\nd\n");
  const Outcome said = run_attune({"translate", out, lines, "--scores", "--threads", "1", "--quiet"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 3);
  const Outcome free = run_attune({"translate", out, lines, "--scores", "--no-shortlist", "--quiet"});
  EXPECT_EQ(free.code, 0) << free.err;
  EXPECT_NE(free.out, said.out);
  put(out + "/shortlist.txt", "attune shortlist 1\n");
  EXPECT_EQ(run_attune({"translate", out, lines, "--quiet"}).code, 5) << "it is not what the manifest says";
}

}  // namespace
}  // namespace attune::test
