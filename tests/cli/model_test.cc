// attune info MODEL and attune average as people and scripts meet them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkpoint/small_model.h"
#include "data/files.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

TEST(InfoModel, TellsAModel) {
  const TempFolder dir;
  const std::string model = put_model(dir / "m");
  put(model + "/metrics.jsonl", "{\"step\":100,\"bleu\":31.5}\n");
  const Outcome text = run_attune({"info", model});
  ASSERT_EQ(text.code, 0) << text.err;
  for (const char* part : {"translate, en to de\n", "1 + 1 layers, d_model 4", "8 (char)\n", "36 in 2 tensors (F32)\n",
                           "bleu 31.5 (step 100)\n", "tokenizer/vocabulary.txt\n", "verified     yes"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\nis not in\n" << text.out;
  const Outcome json = run_attune({"info", model, "--json"});
  const Json j = Json::parse(json.out);
  EXPECT_EQ(j["parameters"], 36);
  EXPECT_EQ(j["source_vocabulary"], 8);
  EXPECT_EQ(j["verified"], true);
  EXPECT_EQ(j["step"], 100);
  EXPECT_EQ(j["best"]["bleu"], 31.5);
  EXPECT_EQ(j["files"].size(), 4u);
}

TEST(InfoModel, DamageIsToldAndAnError) {
  const TempFolder dir;
  const std::string model = put_model(dir / "m");
  put(model + "/tokenizer/vocabulary.txt", "x");
  const Outcome r = run_attune({"info", model});
  EXPECT_EQ(r.code, 5);
  EXPECT_NE(r.out.find("verified     no\n"), std::string::npos) << r.out;
  EXPECT_TRUE(r.err.starts_with("attune info: " + model + "/tokenizer/vocabulary.txt has 1 byte")) << r.err;
  EXPECT_EQ(Json::parse(run_attune({"info", model, "--json"}).out)["verified"], false);
}

TEST(InfoModel, WordsThatAreNeitherFolderNorKnown) {
  const Outcome r = run_attune({"info", "xyzzy"});
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.err,
            "attune info: nothing is known about 'xyzzy'. There is no such folder.\n"
            "  fix: name a model folder, or one of: models, inputs, mixers, mechanisms, scores, positions, optimizers, "
            "heads, pools, recipe\n");
}

TEST(Average, MakesAModelOfARun) {
  const TempFolder dir;
  const std::string run = put_run(dir / "run", {100, 200, 300}), out = dir / "out";
  const Outcome r = run_attune({"average", run, "--last", "2", "--out", out});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err, out + " is the average of 2 models, 36 parameters:\n  " + run + "/checkpoints/step-00000200\n  " +
                       run + "/checkpoints/step-00000300\nnot judged: " + out + "/a.en is not there\n");
  EXPECT_EQ(run_attune({"info", out}).code, 0);
  const Outcome again = run_attune({"average", run, "--out", out});
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(again.err.starts_with("attune average: " + out + " holds a model already\n  fix: ")) << again.err;
  const Outcome json = run_attune({"average", run, "--out", out, "--force", "--json", "--quiet"});
  EXPECT_EQ(json.err, "");
  EXPECT_EQ(Json::parse(json.out)["models"].size(), 2u) << "200 and 300: 100 is early";
  const Outcome early = run_attune({"average", run, "--out", out, "--force", "--json", "--quiet", "--early"});
  EXPECT_EQ(Json::parse(early.out)["models"].size(), 3u);
  const Outcome one = run_attune({"average", put_run(dir / "two", {100, 300}), "--out", dir / "y"});
  EXPECT_EQ(one.code, 2);
  EXPECT_NE(one.err.find("has only one checkpoint in the later half of its 300 updates"), std::string::npos) << one.err;
  const Outcome differ = run_attune(
      {"average", run + "/checkpoints/step-00000100", put_model(dir / "wide", {.d_model = 8}), "--out", dir / "x"});
  EXPECT_EQ(differ.code, 5);
  EXPECT_NE(differ.err.find("models differ: "), std::string::npos) << differ.err;
}

}  // namespace
}  // namespace attune::test
