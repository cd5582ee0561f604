// attune score as people and scripts meet it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/model_maker.h"
#include "cli/shell.h"
#include "data/files.h"
#include "run/language_run.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

TEST(Score, ALinePerPairFromFilesOrAPipe) {
  const TempFolder dir;
  const std::string model = make_model(dir), a = put(dir / "a", "a dog\n\nthe \xff cat\n"),
                    b = put(dir / "b", "ein hund\n\ndie katze");
  const Outcome r = run_attune({"score", model, a, b});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_LT(std::stod(lines[0]), 0);
  EXPECT_EQ(lines[1], "0");
  EXPECT_TRUE(r.err.starts_with("3 lines, ")) << r.err;
  EXPECT_NE(r.err.find("bits a character\n"), std::string::npos) << r.err;
  EXPECT_EQ(run_attune({"score", model, a, b, "--quiet", "--threads", "3", "--batch-tokens", "3"}).out, r.out);
  EXPECT_EQ(shell(model, "paste " + a + " " + b + " | $A score $M --quiet").out, r.out);
  EXPECT_EQ(shell(model, "$A score $M - " + b + " --quiet < " + a).out, r.out);
  EXPECT_EQ(shell(model, "$A score $M --quiet < /dev/null").out, "");

  const auto json = lines_of(run_attune({"score", model, a, b, "--json"}).out);
  ASSERT_EQ(json.size(), 3u);
  const Json first = Json::parse(json[0]);
  EXPECT_EQ(first["token_scores"].size(), first["tokens"].size() + 1);
  EXPECT_NEAR(first["log_prob"].get<double>(), std::stod(lines[0]), 1e-6);
  EXPECT_TRUE(Json::accept(json[2]));

  const Outcome total = run_attune({"score", model, a, b, "--total", "--json", "--quiet"});
  const Json sum = Json::parse(total.out);
  EXPECT_EQ(sum["lines"], 3);
  EXPECT_NEAR(sum["log_prob"].get<double>(), std::stod(lines[0]) + std::stod(lines[2]), 1e-6);
  EXPECT_NEAR(sum["perplexity"].get<double>(), std::exp2(sum["bits_per_token"].get<double>()), 1e-6);
  EXPECT_GT(sum["bits_per_character"].get<double>(), 0);
  EXPECT_TRUE(run_attune({"score", model, a, b, "--total"}).out.starts_with("log p = -"));
}

TEST(Score, TextsLongerThanAnyThatWasLearnedFromAreTold) {
  const TempFolder dir;
  std::string words = "a dog";
  for (int i = 0; i < 300; ++i) words += " a dog";
  const std::string model = make_model(dir), lines = put(dir / "a", "a dog\n" + words + "\n");
  const std::string note =
      "note: 1 line is longer than the 50 tokens of the longest that the model learned from: worth little\n";
  EXPECT_NE(run_attune({"score", model, lines, lines}).err.find(note), std::string::npos);
  EXPECT_NE(run_attune({"embed", model, lines}).err.find(note), std::string::npos);
  const auto json = lines_of(run_attune({"score", model, lines, lines, "--json", "--quiet"}).out);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_FALSE(Json::parse(json[0]).contains("beyond"));
  EXPECT_EQ(Json::parse(json[1])["beyond"], true);
}

TEST(Score, IsWhatTranslateTells) {
  SmallRun run;
  run.train("model", {"train.stop=30u", "train.validate=100u", "train.average=1"});
  const std::string model = run.folder / "model", in = put(run.folder / "in", "a b c\nh g\n");
  const std::vector<std::string> sources{"a b c", "h g"};
  const auto lists = lines_of(run_attune({"translate", model, in, "--json", "--n-best", "5", "--quiet"}).out);
  ASSERT_EQ(lists.size(), 2u);
  std::string pairs;
  std::vector<double> scores;
  for (size_t i = 0; i < lists.size(); ++i) {
    const Json list = Json::parse(lists[i]);
    for (const Json& t : list["n_best"]) {
      if (t["token_scores"].size() == t["tokens"].size()) continue;  // cut off
      pairs += sources[i] + "\t" + t["text"].get<std::string>() + "\n";
      scores.push_back(t["score"].get<double>());
    }
  }
  const auto told = lines_of(
      run_attune({"score", model, put(run.folder / "pairs", pairs), "--length-penalty", "0.6", "--quiet"}).out);
  ASSERT_EQ(told.size(), scores.size());
  EXPECT_GE(told.size(), 5u);
  for (size_t i = 0; i < told.size(); ++i) EXPECT_NEAR(std::stod(told[i]), scores[i], 1e-4) << pairs;
}

TEST(Score, LanguageModels) {
  LanguageRun run;
  run.train("model", {"train.stop=2u", "train.average=1"});
  const std::string model = run.folder / "model", text = put(run.folder / "text", "one two\n\nknock\n");
  const Outcome r = run_attune({"score", model, text, "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(lines_of(r.out).size(), 3u);
  EXPECT_EQ(shell(model, "$A score $M --quiet < " + text).out, r.out);
  const Outcome two = run_attune({"score", model, text, text});
  EXPECT_EQ(two.code, 2);
  EXPECT_NE(two.err.find("fix: leave out " + text), std::string::npos) << two.err;
}

TEST(Score, Mistakes) {
  const TempFolder dir;
  const std::string model = make_model(dir), two = put(dir / "two", "a\nb\n"), one = put(dir / "one", "a\n");
  const struct {
    std::vector<std::string> words;
    int code;
    std::string says;
  } cases[] = {
      {{"score", dir / "none", two}, 5, "none"},
      {{"score", model, two, one}, 4, one + " ends before " + two + ", after 1 lines"},
      {{"score", model, one, two}, 4, one + " ends before " + two},
      {{"score", model, two}, 4, two + ":1 has no tab\n  fix: "},
      {{"score", model, "-", "-"}, 2, "only once"},
      {{"score", model, dir / "none", one}, 6, "cannot read " + (dir / "none")},
      {{"score", model, one, one, "--batch-tokens", "0"}, 2, "--batch-tokens"},
  };
  for (const auto& c : cases) {
    const Outcome r = run_attune(c.words);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_NE(r.err.find(c.says), std::string::npos) << r.err;
  }
}

}  // namespace
}  // namespace attune::test
