// The program as people meet it: help, errors, exit codes, doctor, bench gemm.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "attune/machine.h"
#include "attune/version.h"
#include "places.h"
#include "run_program.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

std::vector<std::string> commands_in_help() {
  std::vector<std::string> commands;
  const std::string help = run_attune({"--help"}).out;
  const std::regex line(R"(\n  attune (\w+) +\w)");
  const std::string list = help.substr(help.find("\n\n", help.find("First steps")));
  for (std::sregex_iterator i(list.begin(), list.end(), line), end; i != end; ++i) commands.push_back((*i)[1]);
  return commands;
}

TEST(Cli, HelpInvites) {
  const Outcome r = run_attune({"--help"});
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("First steps"), std::string::npos) << r.out;
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(run_attune({}).out, r.out);
}

TEST(Cli, VersionIsTheHeaders) { EXPECT_EQ(run_attune({"--version"}).out, "attune " ATTUNE_VERSION "\n"); }

TEST(Cli, EveryCommandHasHelpManPageAndCompletion) {
  const auto commands = commands_in_help();
  ASSERT_GE(commands.size(), 2u);
  const std::string man = slurp(source_dir() + "/docs/man/attune.1");
  const std::string completion = slurp(source_dir() + "/tools/completion.bash");
  EXPECT_NE(man.find("attune " ATTUNE_VERSION), std::string::npos);
  for (const auto& c : commands) {
    const Outcome r = run_attune({c, "--help"});
    EXPECT_EQ(r.code, 0) << c;
    EXPECT_NE(r.out.find("Examples:\n  attune " + c), std::string::npos) << r.out;
    EXPECT_NE(man.find("attune " + c), std::string::npos) << "docs/man/attune.1 lacks " << c;
    EXPECT_TRUE(std::regex_search(completion, std::regex("[\" ]" + c + "[\" ]"))) << "completion lacks " << c;
  }
}

TEST(Cli, MistakesAreUsageErrorsThatHelp) {
  const struct {
    std::vector<std::string> words;
    std::string says;
  } cases[] = {
      {{"docter"}, "attune: unknown command 'docter'. Did you mean 'doctor'?\n"},
      {{"xyzzy"}, "attune: unknown command 'xyzzy'. See `attune --help`.\n"},
      {{"doctor", "--jsno"}, "attune doctor: unknown option '--jsno'. Did you mean '--json'?\n"},
      {{"doctor", "--thread=2"}, "attune doctor: unknown option '--thread'. Did you mean '--threads'?\n"},
      {{"doctor", "now"}, "attune doctor: unknown argument 'now'. See `attune doctor --help`.\n"},
      {{"bench", "gem"}, "attune bench: unknown command 'gem'. Did you mean 'gemm'?\n"},
      {{"info", "recipse"}, "attune info: nothing is known about 'recipse'. Did you mean 'recipe'?\n"},
      {{"bench"}, "attune bench: which one?\n"},
      {{"doctor", "--threads", "0"}, "attune doctor: --threads"},
      {{"doctor", "--isa", "mmx"}, "attune doctor: --isa: this CPU has no instruction set 'mmx'"},
      {{"bench", "gemm", "--shapes", "3x4"}, "attune bench gemm: --shapes: '3x4' is not a shape\n  fix: "},
  };
  for (const auto& c : cases) {
    const Outcome r = run_attune(c.words);
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_TRUE(r.err.starts_with(c.says)) << r.err;
  }
}

TEST(Cli, IsaByOptionOrEnvironment) {
  for (const std::string& isa : available_isas()) {
    EXPECT_EQ(Json::parse(run_attune({"doctor", "--json"}, {"ATTUNE_ISA=" + isa}).out)["isa"], isa);
    EXPECT_EQ(Json::parse(run_attune({"--isa", isa, "doctor", "--json"}, {"ATTUNE_ISA=none"}).out)["isa"], isa);
  }
  const Outcome r = run_attune({"doctor"}, {"ATTUNE_ISA=none"});
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(r.err.starts_with("attune doctor: ATTUNE_ISA: ")) << r.err;
}

TEST(Cli, InfoRecipeTellsEveryKey) {
  const Outcome text = run_attune({"info", "recipe"}), json = run_attune({"info", "recipe", "--json"});
  ASSERT_EQ(text.code, 0) << text.err;
  std::istringstream lines(json.out);
  int n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    const Json j = Json::parse(line);
    EXPECT_NE(text.out.find(j["sentence"].get<std::string>()), std::string::npos) << line;
    EXPECT_TRUE(j["key"] != "model.dropout" || j["range"] == "0 to below 1") << line;
    EXPECT_TRUE(j["key"] != "train.stop" || j["default"] == "\"8000u\"") << line;
  }
  EXPECT_GT(n, 60);
  EXPECT_EQ(run_attune({"info", "recipe", "--markdown"}).out, slurp(source_dir() + "/docs/recipe.md"));
}

TEST(Cli, InfoTellsWhatAttentionCanBe) {
  for (const std::string topic : {"mechanisms", "scores", "positions", "optimizers", "heads", "pools"}) {
    const Outcome text = run_attune({"info", topic}), json = run_attune({"info", topic, "--json"});
    ASSERT_EQ(text.code, 0) << text.err;
    std::istringstream lines(json.out);
    int n = 0;
    for (std::string line; std::getline(lines, line); ++n) {
      const Json j = Json::parse(line);
      EXPECT_NE(text.out.find(j["name"].get<std::string>()), std::string::npos) << line;
      EXPECT_FALSE(j["cite"].get<std::string>().empty()) << line;
      if (topic != "mechanisms") continue;
      for (const char* can : {"causal", "cross", "step"}) EXPECT_TRUE(j[can].is_boolean()) << line;
      EXPECT_FALSE(j["cost"].get<std::string>().empty()) << line;
      EXPECT_TRUE(j["name"] != "band" || j["options"][0]["name"] == "width") << line;
    }
    EXPECT_GT(n, topic == "optimizers" || topic == "heads" || topic == "pools" ? 3 : 6) << topic;
  }
  EXPECT_EQ(run_attune({"info", "mechanisms", "--markdown"}).out, slurp(source_dir() + "/docs/mechanisms.md"))
      << "fix: build/attune info mechanisms --markdown > docs/mechanisms.md";
}

TEST(Cli, DoctorTellsTheMachine) {
  const Outcome r = run_attune({"doctor", "--json", "--threads", "3"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Json j = Json::parse(r.out);
  EXPECT_GT(j["memory"].get<int64_t>(), 0);
  EXPECT_GE(j["cores"].get<int>(), j["cores_allowed"].get<int>());
  EXPECT_EQ(j["threads"], 3);
  EXPECT_EQ(j["isas"].front(), j["isa"]);
  EXPECT_GE(j["busy"].get<double>(), 0);
  EXPECT_LE(j["busy"].get<double>(), 1);
  EXPECT_NE(run_attune({"doctor"}).out.find(j["isa"].get<std::string>()), std::string::npos);
}

TEST(Cli, DoctorWarnsOfASetWithoutFma) {
  const Machine m = describe_machine();
  if (!m.fma || m.isas.back() != "baseline") GTEST_SKIP() << "every set here has it";
  const Outcome r = run_attune({"doctor", "--isa", "baseline"});
  EXPECT_NE(r.out.find("warning: 'baseline' has no fused multiply-add"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\n  fix: "), std::string::npos);
}

TEST(Cli, BenchGemmWritesALinePerProduct) {
  const Outcome r = run_attune({"bench", "gemm", "--shapes", "12x16x32,1x64x64", "--seconds", "0.01", "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  std::istringstream lines(r.out);
  int n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    const Json j = Json::parse(line);
    EXPECT_GT(j["gflops"].get<double>(), 0);
    EXPECT_GT(j["share_of_peak"].get<double>(), 0);
    EXPECT_EQ(j["m"], n < 3 ? 12 : 1);
    const double busy = j["busy"];
    EXPECT_GE(busy, 0);
    if (std::abs(busy - 0.1) < 0.001) continue;  // as good as where it is said from
    EXPECT_EQ(busy > 0.1, r.err.find("this machine was busy with other work") != std::string::npos) << r.err;
  }
  EXPECT_EQ(n, 6);
  EXPECT_EQ(run_attune({"bench", "gemm", "--shapes", "2x2x2", "--seconds", "0.01", "--quiet"}).err, "");
}

TEST(Cli, BenchAttentionWritesALinePerLength) {
  const Outcome r = run_attune({"bench", "attention", "--length", "16,48", "--heads", "2", "--dim", "16", "--causal",
                                "--seconds", "0.01", "--json", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  std::istringstream lines(r.out);
  int n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    const Json j = Json::parse(line);
    EXPECT_EQ(j["length"], n == 0 ? 16 : 48);
    for (const char* key : {"forward_share_of_peak", "backward_share_of_peak", "forward_gflops", "backward_gflops"})
      EXPECT_GT(j[key].get<double>(), 0) << key;
    EXPECT_GE(j["peak_mb"].get<double>(), 0);
  }
  EXPECT_EQ(n, 2);
}

TEST(Cli, BenchAttentionComparesMechanisms) {
  const std::vector<std::string> command{"bench", "attention", "--length",  "70",   "--heads", "2",
                                         "--dim", "16",        "--seconds", "0.01", "--quiet"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), command.begin(), command.end());
    return run_attune(more);
  };
  const Outcome r = with({"--mechanism", "softmax,band:8,linear,routing", "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  std::istringstream lines(r.out);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const Json j = Json::parse(line);
    names.push_back(j["mechanism"]);
    EXPECT_EQ(j["band"], names.back() == "band" ? 8 : 0);
    EXPECT_GT(j["forward_ms"].get<double>(), 0);
    EXPECT_GE(j["backward_ms"].get<double>(), 0);  // of some the difference of two times, which load can hide
    EXPECT_TRUE(j["times_softmax"].is_number());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"softmax", "band", "linear", "routing"}));
  for (const char* wrong : {"soft", "band:", "band:0", "band:8x"}) {
    const Outcome error = with({"--mechanism", wrong});
    EXPECT_EQ(error.code, 2) << wrong;
    EXPECT_NE(error.err.find(wrong), std::string::npos) << error.err;
    EXPECT_NE(error.err.find("\n  fix: "), std::string::npos) << error.err;
  }
  EXPECT_EQ(with({"--mechanism", "linear", "--dropout", "0.1"}).code, 2);
  EXPECT_EQ(with({"--mechanism", "linear", "--band", "8"}).code, 2);
}

TEST(Cli, BenchAttentionTimesDecoding) {
  const Outcome r = run_attune({"bench", "attention", "--decode", "--length", "40,400", "--heads", "2", "--dim", "16",
                                "--mechanism", "softmax,band:8,linear", "--json", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  std::istringstream lines(r.out);
  std::map<std::string, std::vector<int64_t>> bytes;
  for (std::string line; std::getline(lines, line);) {
    const Json j = Json::parse(line);
    EXPECT_GT(j["us_per_token"].get<double>(), 0);
    bytes[j["mechanism"]].push_back(j["state_bytes"]);
  }
  ASSERT_EQ(bytes.size(), 3u);
  EXPECT_GT(bytes["softmax"][1], bytes["softmax"][0]);
  EXPECT_EQ(bytes["band"][1], bytes["band"][0]);
  EXPECT_EQ(bytes["linear"], (std::vector<int64_t>(2, 2 * 16 * 17 * 4)));
  EXPECT_EQ(run_attune({"bench", "attention", "--decode", "--mechanism", "routing"}).code, 2);
}

TEST(Cli, AFullDiskIsAnError) {
  const Outcome r = run_program("/bin/sh", {"-c", program_path() + " doctor > /dev/full"});
  EXPECT_EQ(r.code, 6);
  EXPECT_NE(r.err.find("cannot write"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace attune::test
