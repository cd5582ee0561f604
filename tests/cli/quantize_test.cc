// attune quantize as people and scripts meet it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/small_run.h"
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

}  // namespace
}  // namespace attune::test
