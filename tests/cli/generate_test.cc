// attune generate and attune embed as people and scripts meet them.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "api/model_maker.h"
#include "cli/shell.h"
#include "data/files.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

struct Generate : testing::Test {
  LanguageRun run;
  std::string model = run.folder / "model";
  Generate() { run.train("model", {"train.stop=20u", "train.average=1", "train.validate=100u"}); }
};

TEST_F(Generate, GoesOnWithAPrompt) {
  const Outcome r = run_attune({"generate", model, "--prompt", "one", "--max-length", "80", "--seed", "2"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(r.out.starts_with("one")) << r.out;
  EXPECT_TRUE(r.out.ends_with("\n"));
  EXPECT_EQ(run_attune({"generate", model, "--prompt", "one", "--max-length", "80", "--seed", "2", "--stream"}).out,
            r.out);
  EXPECT_NE(run_attune({"generate", model, "--prompt", "one", "--max-length", "80", "--seed", "3"}).out, r.out);
  EXPECT_EQ(run_attune({"generate", model, "--max-length", "4", "--quiet"}).code, 0) << "of nothing";
  const Json j = Json::parse(run_attune({"generate", model, "--prompt", "one", "--max-length", "5", "--json"}).out);
  EXPECT_EQ(j["tokens"].size(), 5u);
  EXPECT_EQ(j["text"].get<std::string>(), "one" + j["continuation"].get<std::string>());
  EXPECT_TRUE(j["cut_off"]);
  EXPECT_LT(j["score"].get<double>(), 0);
}

TEST_F(Generate, ALineForEachPromptOfAFile) {
  const std::string file = put(run.folder / "prompts", "one\n\nknock \xff\n");
  const std::vector<std::string> words{"generate", model, file, "--max-length", "40", "--quiet"};
  const Outcome r = run_attune(words);
  ASSERT_EQ(r.code, 0) << r.err;
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 3u) << r.out;
  EXPECT_TRUE(lines[0].starts_with("one"));
  EXPECT_EQ(shell(model, "$A generate $M - --max-length 40 --quiet --threads 3 --batch-tokens 9 < " + file).out, r.out);
  auto several = words;
  several.insert(several.end(), {"--n-best", "2"});
  const auto best = lines_of(run_attune(several).out);
  ASSERT_EQ(best.size(), 6u);
  EXPECT_TRUE(best[0].starts_with("0 ||| " + lines[0] + " ||| -")) << best[0];
  EXPECT_TRUE(best[5].starts_with("2 ||| knock")) << best[5];
  auto greedy = words;
  greedy.insert(greedy.end(), {"--beam", "1", "--scores"});
  const auto sure = lines_of(run_attune(greedy).out);
  ASSERT_EQ(sure.size(), 3u);
  EXPECT_NE(sure[0].find(" ||| -"), std::string::npos);
}

TEST_F(Generate, WhatIsPipedInIsGoneOnWith) {
  const std::string dash = shell(model, "echo one | $A generate $M - --max-length 9 --quiet").out;
  EXPECT_TRUE(dash.starts_with("one")) << dash;
  EXPECT_EQ(shell(model, "echo one | $A generate $M --max-length 9 --quiet").out, dash);
  const std::string nothing = shell(model, "$A generate $M --max-length 9 --quiet < /dev/null").out;
  EXPECT_EQ(shell(model, "true | $A generate $M --max-length 9 --quiet").out, nothing);
  EXPECT_EQ(shell(model, "sleep 5 | $A generate $M --max-length 9 --quiet & wait $!").out, nothing)
      << "it waits for nobody";
  EXPECT_TRUE(shell(model, "echo one | $A generate $M --prompt knock --max-length 9 --quiet").out.starts_with("knock"));
}

TEST_F(Generate, AnyPromptIsALine) {
  using namespace std::string_literals;
  const std::string file =
      put(run.folder / "prompts", "nul \0 in it\n   \t\n\xff\xc3\n🐕\nשלום\n"s + std::string(1 << 20, 'o') + "\n\r\n");
  const Outcome r = run_attune({"generate", model, file, "--max-length", "3"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(lines_of(r.out).size(), 7u);
  EXPECT_NE(r.err.find("note: of 1 prompt the model could not see the begin\n"), std::string::npos) << r.err;
}

TEST_F(Generate, Mistakes) {
  const struct {
    std::vector<std::string> words;
    int code;
    std::string says;
  } cases[] = {
      {{"generate", run.folder / "none"}, 5, "none"},
      {{"generate", model, run.folder / "none"}, 6, "cannot read"},
      {{"generate", model, "--beam", "2", "--n-best", "3"}, 2, "make the beam at least 3"},
      {{"generate", model, "--temperature", "0"}, 2, "--temperature"},
      {{"generate", model, "-", "--prompt", "a"}, 2, "excludes"},
  };
  for (const auto& c : cases) {
    const Outcome r = run_attune(c.words);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_NE(r.err.find(c.says), std::string::npos) << r.err;
  }
}

TEST(Embed, TextJsonAndNumPy) {
  const TempFolder dir;
  const std::string model = make_model(dir), file = put(dir / "in", "a dog\n\nzwei \xff\n");
  const Outcome r = run_attune({"embed", model, file, "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(std::count(lines[0].begin(), lines[0].end(), ' '), 31);
  EXPECT_EQ(shell(model, "$A embed $M --threads 3 --batch-tokens 1 --quiet < " + file).out, r.out);
  const Json j = Json::parse(lines_of(run_attune({"embed", model, file, "--json"}).out)[2]);
  ASSERT_EQ(j["vector"].size(), 32u);
  const std::string npy = run_attune({"embed", model, file, "--npy"}).out;
  ASSERT_TRUE(npy.starts_with("\x93NUMPY"));
  const size_t head = 10 + static_cast<unsigned char>(npy[8]) + 256 * static_cast<unsigned char>(npy[9]);
  EXPECT_EQ(head % 64, 0u);
  EXPECT_NE(npy.find("'shape': (3, 32)"), std::string::npos);
  ASSERT_EQ(npy.size(), head + 3 * 32 * sizeof(float));
  float last = 0;
  std::memcpy(&last, npy.data() + npy.size() - sizeof last, sizeof last);
  EXPECT_FLOAT_EQ(last, j["vector"][31].get<float>());
  EXPECT_EQ(run_attune({"embed", model, file, "--pool", "median"}).code, 2);
}

}  // namespace
}  // namespace attune::test
