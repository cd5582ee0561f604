// attune translate and attune test as people and scripts meet them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "api/model_maker.h"
#include "cli/shell.h"
#include "data/files.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

const char* const kText = "a dog runs\n\nthe cat \xff sees\r\n   \nzwei hunde";  // the last line has no end

TEST(Translate, ALineInALineOut) {
  const TempFolder dir;
  const std::string model = make_model(dir), file = put(dir / "in", kText);
  const Outcome r = run_attune({"translate", model, file});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[3], "");
  EXPECT_NE(lines[4], "");
  EXPECT_TRUE(r.out.ends_with("\n"));
  EXPECT_NE(r.err.find("5 lines in "), std::string::npos);
  EXPECT_EQ(run_attune({"translate", model, file, "--quiet", "--threads", "3", "--batch-tokens", "7"}).out, r.out);
  EXPECT_EQ(run_attune({"translate", model, file, "--quiet"}).err, "");
  EXPECT_EQ(shell(model, "$A translate $M - --quiet < " + file).out, r.out);
  EXPECT_EQ(shell(model, "$A translate $M --quiet < /dev/null").out, "");
}

/// An answer comes as soon as its line is there, not when the input ends.
TEST(Translate, AnswersWhileTheInputIsOpen) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const Outcome r = shell(model, "mkfifo " + dir.path() + "/in " + dir.path() + "/out; $A translate $M --quiet < " +
                                     dir.path() + "/in > " + dir.path() + "/out & exec 3> " + dir.path() + "/in 4< " +
                                     dir.path() + "/out; for i in 1 2 3; do echo 'a dog' >&3; read -r answer <&4; " +
                                     "echo \"$answer\"; done; exec 3>&-; wait");
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 3u) << r.err;
  EXPECT_EQ(lines[0], lines[2]);
  EXPECT_EQ(lines[0] + "\n", shell(model, "echo a dog | $A translate $M").out);
}

TEST(Translate, NBestScoresAndAlignments) {
  const TempFolder dir;
  const std::string model = make_model(dir), file = put(dir / "in", "a dog\n\nzwei hunde\n");
  const auto best = lines_of(run_attune({"translate", model, file, "--n-best", "3"}).out);
  ASSERT_EQ(best.size(), 7u);  // three, one for the empty line, three
  EXPECT_TRUE(best[0].starts_with("0 ||| "));
  EXPECT_EQ(best[3], "1 |||  ||| 0.000000");
  EXPECT_TRUE(best[6].starts_with("2 ||| "));
  const auto plain = lines_of(run_attune({"translate", model, file}).out);
  EXPECT_TRUE(best[0].starts_with("0 ||| " + plain[0] + " ||| -")) << best[0];
  const auto all = lines_of(run_attune({"translate", model, file, "--scores", "--alignment"}).out);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(std::regex_match(all[0].substr(plain[0].size()),
                               std::regex(R"( \|\|\| -\d+\.\d{6} \|\|\| (\d+-\d+( \d+-\d+)*)?)")))
      << all[0];
}

TEST(Translate, AlignsTranslationsThatAreThere) {
  const TempFolder dir;
  const std::string model = make_model(dir), source = put(dir / "a", "a dog runs\n\nthe cat\n");
  const std::string target = put(dir / "b", "ein hund\nx\ndie katze\n");
  const Outcome r = run_attune({"translate", model, source, "--align-to", target});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(std::regex_match(lines[0], std::regex("([012]-[01] ?)*"))) << lines[0];
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(run_attune({"translate", model, source, "--align-to", target, "--threads", "3"}).out, r.out);
  const Json json =
      Json::parse(lines_of(run_attune({"translate", model, source, "--align-to", target, "--json"}).out)[2]);
  EXPECT_EQ(json["text"], "die katze");
  const Outcome bad = run_attune({"translate", model, source, "--align-to", put(dir / "c", "x\n")});
  EXPECT_EQ(bad.code, 4);
  EXPECT_NE(bad.err.find(dir / "c" + " ends before " + source), std::string::npos) << bad.err;
}

TEST(Translate, Json) {
  const TempFolder dir;
  const std::string model = make_model(dir), file = put(dir / "in", "a dog\n\nzwei \xff hunde\n");
  const auto lines = lines_of(run_attune({"translate", model, file, "--json", "--n-best", "2"}).out);
  ASSERT_EQ(lines.size(), 3u);
  const Json j = Json::parse(lines[0]);
  EXPECT_TRUE(j["text"].is_string());
  EXPECT_LT(j["score"].get<double>(), 0);
  EXPECT_TRUE(j["tokens"].is_array());
  EXPECT_GE(j["token_scores"].size(), j["tokens"].size());
  EXPECT_TRUE(j["alignment"].is_array());
  ASSERT_EQ(j["n_best"].size(), 2u);
  EXPECT_EQ(j["n_best"][0]["text"], j["text"]);
  EXPECT_EQ(Json::parse(lines[1])["text"], "");
  EXPECT_EQ(j.contains("cut_off"), j["token_scores"].size() == j["tokens"].size());
  const Json cut = Json::parse(
      lines_of(run_attune({"translate", model, file, "--json", "--min-length", "2", "--max-length", "3"}).out)[0]);
  EXPECT_EQ(cut.contains("cut_off"), cut["token_scores"].size() == cut["tokens"].size());
  EXPECT_TRUE(Json::accept(lines[2]));
}

TEST(Translate, SamplesPrefixesAndEnsembles) {
  const TempFolder dir;
  const std::string model = make_model(dir), file = put(dir / "in", "a dog\n\ntwo cats\n"),
                    begin = put(dir / "begin", "ein\n\nzwei hunde\n");
  const auto drawn = [&](const char* seed) {
    return run_attune({"translate", model, file, "--quiet", "--sample", "--top-k", "20", "--seed", seed}).out;
  };
  EXPECT_EQ(drawn("1"), drawn("1"));
  EXPECT_NE(drawn("1"), drawn("2"));
  const auto lines = lines_of(run_attune({"translate", model + "," + model, file, "--quiet", "--prefix", begin}).out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("ein")) << lines[0];
  EXPECT_EQ(lines[1], "");
  EXPECT_TRUE(lines[2].starts_with("zwei hunde")) << lines[2];
  const Outcome never =
      run_attune({"translate", model, "--quiet", "--suppress", "\u2581a", "--suppress", "\u2581dog", file});
  EXPECT_EQ(lines_of(never.out).size(), 3u) << "the file is no piece: " << never.err;
}

TEST(Translate, SoftAlignmentsAndStreams) {
  const TempFolder dir;
  const std::string model = make_model(dir), file = put(dir / "in", "a dog\n\ntwo cats\n");
  const std::vector<std::string> words{"translate", model, "--alignment=soft", file, "--quiet", "--max-length", "4"};
  const auto lines = lines_of(run_attune(words).out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(std::regex_search(lines[0], std::regex(R"( \|\|\| [0-9.e-]+(,[0-9.e-]+)+( [0-9.e-]+(,[0-9.e-]+)+)*$)")))
      << lines[0];
  EXPECT_EQ(lines[1], " ||| ");
  auto as_json = words;
  as_json.insert(as_json.end(), {"--json", "--alignment-layer", "1", "--alignment-heads", "0,1"});
  const Json j = Json::parse(lines_of(run_attune(as_json).out)[0]);
  ASSERT_EQ(j["attention"].size(), j["tokens"].size());
  EXPECT_EQ(j["attention"][0].size(), j["source_tokens"].size());
  EXPECT_EQ(run_attune({"translate", model, file, "--alignment=strong"}).code, 2);
  EXPECT_EQ(run_attune({"translate", model, file, "--alignment-layer", "7"}).code, 2);
  const std::string plain = run_attune({"translate", model, file, "--quiet"}).out;
  EXPECT_EQ(run_attune({"translate", model, file, "--quiet", "--stream"}).out, plain);
  EXPECT_EQ(run_attune({"translate", model, file, "--quiet", "--stream", "--beam", "1"}).out,
            run_attune({"translate", model, file, "--quiet", "--beam", "1"}).out);
}

TEST(Translate, SaysWhatWasCropped) {
  const TempFolder dir;
  const std::string model = make_model(dir, {.position = "learned", .max_length = 5});
  const std::string text = put(dir / "in", "the cat sees a dog in the park\na\n");
  const Outcome r = run_attune({"translate", model, text, "--no-cut"});
  EXPECT_NE(r.err.find("note: 1 line was cropped to 5 tokens, the most this model can read\n"), std::string::npos)
      << r.err;
  EXPECT_EQ(lines_of(r.out).size(), 2u);
}

TEST(Translate, Mistakes) {
  const TempFolder dir;
  const std::string model = make_model(dir);
  const struct {
    std::vector<std::string> words;
    int code;
    std::string says;
  } cases[] = {
      {{"translate", dir / "none"}, 5, "none"},
      {{"translate", model, dir / "none"}, 6, "cannot read " + (dir / "none")},
      {{"translate", model, "--beam", "0"}, 2, "--beam"},
      {{"translate", model, "--beam", "2", "--n-best", "3"}, 2, "make the beam at least 3"},
      {{"translate", model, "--temperature", "2"}, 2, "--temperature requires --sample"},
      {{"translate", model, put(dir / "two", "a\nb\n"), "--prefix", put(dir / "one", "a\n")},
       4,
       "one ends before " + (dir / "two")},
      {{"translate"}, 2, "MODEL"},
      {{"translate", dir / "text", model}, 2, "fix: attune translate " + model + " " + (dir / "text")},
      {{"test", model}, 3, "fix: add --set 'data.test="},
      {{"test", model, "--set", "data.test=[\"" + (dir / "x") + "\", \"" + (dir / "y") + "\"]"}, 4, dir / "x"},
  };
  for (const auto& c : cases) {
    const Outcome r = run_attune(c.words);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_NE(r.err.find(c.says), std::string::npos) << r.err;
  }
}

TEST(Test, ScoresTheTestSetOfTheRecipe) {
  const TempFolder dir;
  const std::string source = put(dir / "test.en", "a dog\nthe cat sees\nzwei\n");
  const std::string model = make_model(dir, {.tests = {source, dir / "test.de"}});
  put(dir / "test.de", run_attune({"translate", model, source}).out);
  const Outcome r = run_attune({"test", model, "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Json j = Json::parse(r.out);
  EXPECT_EQ(j["exact"], 100.0);
  EXPECT_TRUE(j["bleu"].is_number());
  EXPECT_EQ(j["lines"], 3);
  EXPECT_NE(j["signatures"]["bleu"].get<std::string>().find("tok:13a"), std::string::npos);

  const std::string other = put(dir / "other.de", "x\ny\nz\n");
  const Outcome o = run_attune({"test", model, "--set", "data.test=[\"" + source + "\", \"" + other + "\"]", "--set",
                                "train.metric_options.tokenize=none", "--beam", "1"});
  EXPECT_NE(o.out.find("exact match = 0.00 % (0 of 3 lines)"), std::string::npos) << o.out << o.err;
  EXPECT_NE(o.out.find("tok:none"), std::string::npos);
}

TEST(BenchDecode, ALinePerSettingWithTheKeysThatScriptsRelyOn) {
  const TempFolder dir;
  const std::string model = make_model(dir), file = put(dir / "in", kText);
  const Outcome r = run_attune({"bench", "decode", model, file, "--beam", "1,2", "--threads", "2", "--rounds", "1",
                                "--max-length", "4", "--json", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  const auto lines = lines_of(r.out);
  ASSERT_EQ(lines.size(), 2u);
  for (const std::string& line : lines) {
    const Json figure = Json::parse(line);
    for (const char* key : {"tokens_per_s", "p50_ms", "p99_ms", "peak_rss_mb"})
      EXPECT_GT(figure.at(key).get<double>(), 0) << key;
    EXPECT_EQ(figure.at("type"), "f32");
    EXPECT_EQ(figure.at("threads"), 2);
  }
  EXPECT_EQ(run_attune({"bench", "decode", model, file, "--threads", "0"}).code, 2);
  EXPECT_EQ(run_attune({"bench", "decode", dir / "none", file}).code, 5);
}

}  // namespace
}  // namespace attune::test
