// attune metric as people and scripts meet it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attune/metric.h"
#include "attune/version.h"
#include "data/files.h"
#include "places.h"

namespace attune::test {
namespace {

using Json = nlohmann::json;

TEST(Metric, BleuOfFiles) {
  const TempFolder dir;
  const std::string ref = put(dir / "ref.gz", gzipped("The cat is on the mat.\nA dog.\n"));
  const std::string hyp = put(dir / "hyp", "The cat sat on the mat.\r\nA dog.\r\n");
  const Outcome r = run_attune({"metric", "bleu", "--ref", ref, hyp, "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Json j = Json::parse(r.out);
  EXPECT_EQ(j["name"], "bleu");
  EXPECT_NEAR(j["score"].get<double>(), 53.895617, 1e-5);  // by sacreBLEU 2.6.0
  EXPECT_EQ(j["signature"], "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attune." ATTUNE_VERSION);
  EXPECT_EQ(j["hypothesis_length"], 10);
  EXPECT_EQ(run_attune({"metric", "bleu", hyp, "--ref", ref}).out,
            "BLEU = 53.90 90.0/75.0/50.0/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 10 ref_len = 10)\n" +
                j["signature"].get<std::string>() + "\n");
}

TEST(Metric, OptionsSeveralReferencesAndStandardInput) {
  const TempFolder dir;
  const std::string a = put(dir / "a", "x\n"), b = put(dir / "b", "a b c d\n");
  const Outcome r =
      run_program("/bin/sh", {"-c", "printf 'A B C D\\n' | " + program_path() + " metric bleu --ref " + a + " --ref " +
                                        b + " --tokenize none --smooth floor --lowercase --json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Json j = Json::parse(r.out);
  EXPECT_EQ(j["score"], 100.0);
  EXPECT_EQ(j["signature"], "nrefs:2|case:lc|eff:no|tok:none|smooth:floor[0.10]|version:attune." ATTUNE_VERSION);
}

TEST(Metric, Exact) {
  const TempFolder dir;
  const std::string ref = put(dir / "ref", "a\nb\nc\n"), hyp = put(dir / "hyp", "a\nb\nx");
  const Outcome r = run_attune({"metric", "exact", "--ref", ref, hyp});
  EXPECT_EQ(r.out, "exact match = 66.67 % (2 of 3 lines)\nnrefs:1|case:mixed|version:attune." ATTUNE_VERSION "\n");
  EXPECT_EQ(Json::parse(run_attune({"metric", "exact", "--ref", ref, ref, "--json"}).out)["score"], 100.0);
}

TEST(Metric, AlignmentErrorRate) {
  const TempFolder dir;
  const std::string ref = put(dir / "ref", "0-0 1-1\n2p2 4-4\n"), hyp = put(dir / "hyp", "0-0 1-1\n2-2 3-3\n");
  const Outcome r = run_attune({"metric", "aer", "--ref", ref, hyp});
  EXPECT_EQ(r.out,
            "alignment error rate = 28.57 % (precision 75.00 %, recall 66.67 %, 4 links)\n"
            "links:words|version:attune." ATTUNE_VERSION "\n")
      << r.err;
  EXPECT_EQ(Json::parse(run_attune({"metric", "aer", "--ref", ref, "--json", ref}).out)["links"], 4);
  EXPECT_EQ(run_attune({"metric", "aer", "--ref", ref, "--lowercase", hyp}).code, 2);
  EXPECT_EQ(run_attune({"metric", "aer", "--ref", ref, "--ref", ref, hyp}).code, 2);
  EXPECT_EQ(run_attune({"metric", "aer", "--ref", ref, put(dir / "bad", "0-0\nx\n")}).code, 4);
}

TEST(Metric, Mistakes) {
  const TempFolder dir;
  const std::string one = put(dir / "one.de", "a\n"), two = put(dir / "two.de", "a\nb\n"), none = put(dir / "none", "");
  const struct {
    std::vector<std::string> words;
    int code;
    std::string says;
  } cases[] = {
      {{"bleu", "--ref", one, two},
       4,
       two + " has 2 lines, " + one + " has 1\n  fix: a line must stand for a line: look for a lost one\n"},
      {{"bleu", "--ref", two, one},
       4,
       one + " has 1 line, " + two + " has 2\n  fix: a line must stand for a line: look for a lost one\n"},
      {{"blue", "--ref", one, one}, 2, "unknown metric 'blue'. Did you mean 'bleu'?\n"},
      {{"xyzzy", "--ref", one, one},
       2,
       "unknown metric 'xyzzy'. Known: bleu, exact, aer, chrf, chrf++, ter, rouge, wer, cer, accuracy, f1, span-f1, "
       "set-f1, pearson, mse\n"},
      {{"bleu", "--ref", one, one, "--tokenize", "13b"},
       2,
       "tokenize = '13b' is not known: 13a | intl | char | zh | none. Did you mean '13a'?\n"},
      {{"exact", "--ref", one, one, "--smooth", "exp"},
       2,
       "exact has no option smooth\n  fix: leave it out; there is lowercase\n"},
      {{"bleu", "--ref", one, "--ref", two, one},
       4,
       one + " has 1 line, " + two + " has 2\n  fix: a line must stand for a line: look for a lost one\n"},
      {{"bleu", "--ref", none, none},
       4,
       none + " is empty, and so is " + none + "\n  fix: look whether what should write them failed\n"},
      {{"bleu", "--ref", one, one, "--paired", "bootstrap"},
       2,
       "a paired test compares systems, and there is one\n  fix: name the baseline, then the others\n"},
      {{"bleu", "--ref", "-", "-"},
       2,
       "the standard input (-) can be read only once\n  fix: put one of the texts into a file\n"},
      {{"bleu", "--ref", dir / "one.ed", one},
       6,
       "cannot read " + (dir / "one.ed") + ": No such file or directory\n  fix: did you mean " + one + "?\n"},
      {{"bleu", one}, 2, "--ref is required\n  fix: see `attune metric --help`\n"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> words{"metric"};
    words.insert(words.end(), c.words.begin(), c.words.end());
    const Outcome r = run_attune(words);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_EQ(r.err, "attune metric: " + c.says);
    EXPECT_EQ(r.out, "");
  }
}

TEST(Metric, EveryOneRuns) {
  const TempFolder dir;
  const std::string ref = put(dir / "ref", "B-A O B-B\nO O\n"), hyp = put(dir / "hyp", "B-A O O\nO O\n");
  for (const std::string& name : metric_names()) {
    if (name == "aer" || name == "pearson" || name == "mse") continue;  // of links and numbers
    const Outcome r = run_attune({"metric", name, "--ref", ref, hyp, "--json", "--confidence", "--samples", "20"});
    ASSERT_EQ(r.code, 0) << r.err;
    const Json j = Json::parse(r.out);
    EXPECT_EQ(j["name"], name);
    EXPECT_TRUE(j["score"].is_number() && j["confidence_mean"].is_number() && j["confidence_var"].is_number()) << r.out;
    EXPECT_NE(j["signature"].get<std::string>().find("bs:20|seed:12345"), std::string::npos) << r.out;
  }
  const Outcome spans = run_attune({"metric", "span-f1", "--ref", ref, hyp});
  EXPECT_EQ(spans.out,
            "span F1 = 66.67 (precision 100.00 %, recall 50.00 %; 2 spans, 1 found, 1 right; tags 80.00 % right)\n"
            "label  precision  recall      f1  count  found  right\n"
            "A         100.00  100.00  100.00      1      1      1\n"
            "B           0.00    0.00    0.00      1      0      0\n"
            "spans:conll|average:micro|version:attune." ATTUNE_VERSION "\n");
}

TEST(Metric, SeveralSystemsAreComparedWithTheFirst) {
  const TempFolder dir;
  std::string right, base, better;
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i * i);
    right += "the cat number " + n + " sat on the mat\n";
    base += (i % 2 ? "a cat number " : "the dog ") + n + " on mats\n";
    better += "the cat number " + n + " sat on a mat\n";
  }
  const std::string ref = put(dir / "ref", right), a = put(dir / "a", base), b = put(dir / "b", better);
  const Outcome r = run_attune({"metric", "bleu", "--ref", ref, a, b, "--paired", "bootstrap", "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Json first = Json::parse(r.out.substr(0, r.out.find('\n'))),
             second = Json::parse(r.out.substr(r.out.find('\n')));
  EXPECT_EQ(first["system"], a);
  EXPECT_FALSE(first.contains("p_value"));
  EXPECT_LT(second["p_value"].get<double>(), 0.01);
  EXPECT_GT(second["score"].get<double>(), first["score"].get<double>());
  const Outcome table =
      run_attune({"metric", "ter", "--ref", ref, a, b, "--paired", "randomization", "--samples", "50"});
  EXPECT_NE(table.out.find("baseline"), std::string::npos) << table.out << table.err;
  EXPECT_NE(table.out.find("nrefs:1|ar:50|seed:12345|case:lc"), std::string::npos) << table.out;
  const Outcome lines = run_attune({"metric", "bleu", "--ref", ref, ref, "--sentence-level"});
  EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 40);
  EXPECT_TRUE(lines.out.starts_with("100.0000\n")) << lines.out;
}

TEST(Metric, DocumentedWhole) {
  const std::string doc = slurp(source_dir() + "/docs/metrics.md");
  const std::string completion = slurp(source_dir() + "/tools/completion.bash");
  for (const MetricDescription& m : describe_metrics()) {
    EXPECT_NE(doc.find("`" + m.name + "`"), std::string::npos) << m.name;
    for (const auto& o : m.options) {
      std::string flag = "--" + o.name;
      std::replace(flag.begin(), flag.end(), '_', '-');
      EXPECT_NE(doc.find(flag), std::string::npos) << flag;
      EXPECT_NE(completion.find(flag), std::string::npos) << flag;
    }
  }
}

TEST(Metric, AsALibrary) {
  EXPECT_EQ(metric_names(), (std::vector<std::string>{"bleu", "exact", "aer", "chrf", "chrf++", "ter", "rouge", "wer",
                                                      "cer", "accuracy", "f1", "span-f1", "set-f1", "pearson", "mse"}));
  EXPECT_EQ(measure("bleu", {"a b c d"}, {{"a b c d"}}).score, 100);
  EXPECT_EQ(measure("exact", {"A"}, {{"a"}}, {.lowercase = true}).score, 100);
}

}  // namespace
}  // namespace attune::test
