// attune compare and the probes of attune new, as people and scripts meet them.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "places.h"
#include "run/small_run.h"
#include "run_program.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct CompareCommand : testing::Test {
  SmallRun run;
  Outcome compare(std::vector<std::string> more) const {
    std::vector<std::string> all{"compare", run.recipe(), "--threads", "1", "--set", "train.stop=8u"};
    all.insert(all.end(), more.begin(), more.end());
    return run_attune(all);
  }
};

TEST_F(CompareCommand, PrintsATableAndNamesThePage) {
  const Outcome r = compare({"--over", "model.heads=2,3"});
  ASSERT_EQ(r.code, 0) << r.err;
  std::istringstream lines(r.out);
  std::string head, two, three;
  std::getline(lines, head);
  std::getline(lines, two);
  std::getline(lines, three);
  EXPECT_TRUE(head.starts_with("variant  ")) << r.out;
  EXPECT_NE(head.find("decode tok/s"), std::string::npos) << r.out;
  EXPECT_TRUE(two.starts_with("heads-2  ")) << r.out;
  EXPECT_TRUE(three.starts_with("heads-3  ")) << r.out;
  EXPECT_NE(three.find("impossible: model.d_model = 16 is not a multiple of model.heads = 3"), std::string::npos);
  EXPECT_NE(r.err.find("heads-3 is impossible: "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("heads-2 (1 of 2)\n"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find(run.folder / "recipe.compare/compare.html"), std::string::npos) << r.err;
  EXPECT_TRUE(fs::exists(run.folder / "recipe.compare/compare.html"));
}

TEST_F(CompareCommand, JsonIsALinePerVariant) {
  const Outcome r = compare({"--over", "model.heads=2,4", "--out", run.folder / "c", "--json", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  std::istringstream lines(r.out);
  int n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    const Json j = Json::parse(line);
    EXPECT_EQ(j["state"], "finished");
    EXPECT_GT(j["target_tokens_per_s"].get<double>(), 0);
    EXPECT_EQ(j["work"].size(), 9u);
  }
  EXPECT_EQ(n, 2);
}

TEST_F(CompareCommand, MistakesHaveTheirCodes) {
  EXPECT_EQ(compare({"--over", "model.heads"}).code, 2);
  EXPECT_EQ(compare({"--over", "model.heads=[2"}).code, 2);
  EXPECT_EQ(compare({}).code, 2);
  EXPECT_EQ(compare({"--over", "model.heads=3"}).code, 3);
  const Outcome key = compare({"--over", "model.haeds=1,2"});
  EXPECT_EQ(key.code, 3);
  EXPECT_NE(key.err.find("Did you mean 'model.heads'?"), std::string::npos) << key.err;
  EXPECT_EQ(run_attune({"compare", run.folder / "none.toml", "--over", "a=b"}).code, 3);
}

TEST_F(CompareCommand, TermSavesAndTheSameCommandGoesOn) {
  const auto saved = [&] { return checkpoints(run.folder / "recipe.compare/heads-2"); };
  const auto until = [&](int64_t update) {
    return std::vector<std::string>{"compare",   run.recipe(),
                                    "--over",    "model.heads=2,4",
                                    "--threads", "1",
                                    "--set",     "train.stop=" + std::to_string(update) + "u",
                                    "--set",     "train.save=2u",
                                    "--set",     "train.validate=200u"};
  };
  RunningProgram program(program_path(), until(1'000'000));  // whatever the machine does, it does not come to its end
  ASSERT_TRUE(program.wait_until([&] { return !saved().empty(); })) << program.err();
  program.send(SIGTERM);
  const Outcome o = program.wait();
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_TRUE(o.err.ends_with("interrupted; the same command goes on\n")) << o.err;
  const Outcome again = run_attune(until(saved().back().step + 10));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("going on from update "), std::string::npos) << again.err;
  EXPECT_NE(again.out.find("heads-4"), std::string::npos);
}

TEST(NewProbe, WritesDataAndARecipe) {
  const TempFolder dir;
  const std::vector<std::string> command{"new", "probe:copy", "--out", dir / "p", "--lines", "40", "--gap", "12"};
  const Outcome r = run_attune(command);
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_TRUE(r.err.ends_with("next: attune train " + (dir / "p/recipe.toml") + "\n")) << r.err;
  const std::string lines = slurp(dir / "p/data/train.in");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 40);
  EXPECT_EQ(run_attune(command).code, 0);
  EXPECT_EQ(slurp(dir / "p/data/train.in"), lines);
  EXPECT_EQ(run_attune({"new", "probe:copy", "--out", dir / "p", "--gap", "300"}).code, 2);
  const Outcome json = run_attune({"new", "probe:listops", "--out", dir / "l", "--lines", "40", "--json", "--quiet"});
  EXPECT_EQ(Json::parse(json.out)["pairs"], 40) << json.err;
  // What it wrote can be trained.
  const Outcome trained = run_attune({"train", dir / "p/recipe.toml", "--set", "train.stop=2u", "--set",
                                      "train.batch_tokens=512", "--out", dir / "m", "--quiet"});
  EXPECT_EQ(trained.code, 0) << trained.err;
}

TEST(NewProbe, MistakesAreTold) {
  const auto err = [](const std::vector<std::string>& words) {
    const Outcome r = run_attune(words);
    EXPECT_EQ(r.code, 2) << r.err;
    return r.err;
  };
  EXPECT_TRUE(err({"new", "probe:coppy"}).starts_with("attune new: there is no probe 'coppy'. Did you mean 'copy'?"));
  EXPECT_TRUE(err({"new", "probe:copy", "a.en"}).starts_with("attune new: a probe makes its own data\n  fix: "));
  EXPECT_TRUE(err({"new", "translate", "a", "b", "--gap", "7"}).starts_with("attune new: --lines, --gap, --depth"));
}

}  // namespace
}  // namespace attune::test
